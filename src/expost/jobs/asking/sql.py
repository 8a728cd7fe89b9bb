"""SQL."""


def queries_in_sql(text, *, unit=None):
    raise NotImplementedError
