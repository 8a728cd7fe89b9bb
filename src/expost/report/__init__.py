"""Reports: what a run reached, what it cost and what that means, for the people who decide on its release."""

from expost.report.audit import Audit, check
from expost.report.facts import Facts
from expost.report.html import fragment, render
from expost.report.meaning import explain
from expost.report.receipt import receipt, written
from expost.report.words import conclusion

__all__ = ["Audit", "Facts", "check", "conclusion", "explain", "fragment", "receipt", "render", "written"]
