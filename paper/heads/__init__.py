"""Fine-tuning of linear heads: features, training jobs, and how searches over their releases end."""
