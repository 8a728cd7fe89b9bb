"""Classifiers for what the paper calls gradient boosting without saying which; each is made by its name here."""

from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

COLUMNS = 12
"""Of the Adult table, besides the target."""


def by_category() -> HistGradientBoostingClassifier:
    """Splits that take any set of a column's codes, not only those up to one."""
    return HistGradientBoostingClassifier(categorical_features=list(range(COLUMNS)))


def one_hot() -> Pipeline:
    """Trees of depth three on a column of zeros and ones for each code."""
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(encoder, GradientBoostingClassifier(random_state=0))
