"""What is mutated, and by which tests the mutants must die."""

CORE = (
    "tests/bills/test_mechanisms.py",
    "tests/bills/test_noise_reduction.py",
    "tests/bills/test_checks.py",
    "tests/faults/test_one_relation.py",
    "tests/faults/test_unfinished_steps.py",
    "tests/unit/checks",
    "tests/unit/mechanisms",
    "tests/unit/accounting/test_claim.py",
    "tests/unit/accounting/test_curve.py",
    "tests/unit/test_baselines.py",
    "tests/unit/test_ladder.py",
    "tests/unit/test_noise.py",
    "tests/unit/test_numerics.py",
    "tests/unit/test_odometer.py",
    "tests/unit/test_private.py",
    "tests/unit/test_ledger.py",
    "tests/unit/test_release.py",
    "tests/unit/test_seal.py",
    "tests/unit/test_search.py",
    "tests/unit/test_statistic.py",
    "tests/unit/test_protocols.py",
    "tests/unit/receipts/test_lines.py",
)
"""What tests sealed data, releases, mechanisms, checks and the loop."""
CLAIMS = (
    *CORE,
    "tests/unit/accounting/test_plan.py",
    "tests/unit/accounting/test_pledge.py",
    "tests/unit/accounting/test_statement.py",
    "tests/theorems/test_pledges.py",
)
"""The same, and what tests pledges and plans."""
OF_PACKAGES = {
    "norms.py": ("tests/unit/test_norms.py", "tests/unit/test_statistic.py", "tests/faults/test_own_order.py"),
    "storage.py": (
        "tests/unit/test_storage.py",
        "tests/unit/test_private.py",
        "tests/faults/test_private_taken_for_public.py",
    ),
    "mechanisms/laplace_path.py": (*CORE, "tests/theorems/test_laplace_noise_reduction.py"),
    "accounting/claim.py": CLAIMS,
    "accounting/curve.py": CLAIMS,
    "accounting/plan.py": CLAIMS,
    "accounting/pledge.py": CLAIMS,
    "accounting/statement.py": CLAIMS,
    "accounting/": ("tests/unit/accounting", "tests/theorems"),
    "sampling/": (
        "tests/unit/sampling",
        "tests/unit/test_noise.py",
        "tests/theorems/test_exact_samplers.py",
        "tests/theorems/test_envelope_sampler.py",
    ),
    "tabular/": (
        "tests/bills/test_mechanisms.py",
        "tests/theorems/test_private_spanning_tree.py",
        "tests/unit/tabular/test_marginals.py",
        "tests/unit/tabular/test_selection.py",
        "tests/unit/receipts/test_lines.py",
    ),
    "training/": (
        "tests/bills/test_training.py",
        "tests/theorems/test_sampled_integer_noise.py",
        "tests/unit/training/head/test_gradient.py",
        "tests/unit/training/head/test_mechanism.py",
        "tests/unit/receipts/test_lines.py",
    ),
}
"""What tests a module, or the modules of a package."""


def suite_of(module: str) -> tuple[str, ...]:
    """The tests that a module's mutants must die by: a fault that only a command or a figure would show is missed."""
    return next((tests for package, tests in OF_PACKAGES.items() if module.startswith(package)), CORE)


MODULES = (
    "_seal.py",
    "private.py",
    "release.py",
    "ledger.py",
    "protocols.py",
    "filters.py",
    "odometer.py",
    "search.py",
    "ladder.py",
    "statistic.py",
    "noise.py",
    "norms.py",
    "numerics.py",
    "storage.py",
    "baselines.py",
    "mechanisms/brownian.py",
    "mechanisms/exponential.py",
    "mechanisms/gaussian.py",
    "mechanisms/laplace.py",
    "mechanisms/laplace_path.py",
    "mechanisms/noise_reduction.py",
    "checks/gaussian.py",
    "checks/question.py",
    "checks/sparse_vector.py",
    "accounting/claim.py",
    "accounting/convert.py",
    "accounting/curve.py",
    "accounting/descent.py",
    "accounting/gaussian.py",
    "accounting/plan.py",
    "accounting/pledge.py",
    "accounting/private_selection.py",
    "accounting/pure.py",
    "accounting/sparse_vector.py",
    "accounting/statement.py",
    "accounting/subsampled.py",
    "accounting/textbook.py",
    "sampling/bounds.py",
    "sampling/envelope.py",
    "sampling/inversion.py",
    "sampling/limits.py",
    "sampling/reference.py",
    "sampling/table.py",
    "tabular/marginals.py",
    "tabular/selection.py",
    "training/head/gradient.py",
    "training/head/mechanism.py",
)
"""The trusted base, the accounting of training, and what draws noise above them."""
