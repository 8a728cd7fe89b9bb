"""Reports: what a run reached, what it cost and what that means, for the people who decide on its release."""

from expost.report.facts import Facts, collect
from expost.report.html import fragment, render
from expost.report.meaning import explain
from expost.report.receipt import Audit, check, receipt
from expost.report.words import conclusion

__all__ = ["Audit", "Facts", "check", "collect", "conclusion", "explain", "fragment", "receipt", "render"]
