"""The style sheet of the page and its charts: light, dark and print; told apart by shape as well as by colour."""

STYLE = """
.expost { --page: #fff; --ink: #1b2026; --soft: #59636e; --rule: #dfe3e8; --panel: #f5f7f9; --synthetic: #0072b2;
  --released: #b45309; --alert: #a3160b; color-scheme: light dark; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; max-width: 62rem; margin: 0 auto;
  padding: 2.5rem 2rem; }
@media (prefers-color-scheme: dark) { .expost { --page: #14181d; --ink: #e8ebee; --soft: #a3adb8; --rule: #333b44;
  --panel: #1d232a; --synthetic: #56b4e9; --released: #f0a94a; --alert: #b3261a; } }
@media print { .expost { padding: 0; font-size: 11pt; } .expost section, .expost tr { break-inside: avoid; } }
.expost h1 { font-size: 1.9rem; line-height: 1.2; margin: .1rem 0 .6rem; letter-spacing: -.01em; }
.expost h2 { font-size: 1.2rem; margin: 2.8rem 0 .5rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); }
.expost h3 { font-size: .95rem; margin: 0 0 .2rem; overflow-wrap: break-word; }
.expost p { margin: .6rem 0; max-width: 46rem; overflow-wrap: break-word; }
.expost .kind { color: var(--soft); margin: 0; font-size: .9rem; }
.expost .lede { font-size: 1.3rem; line-height: 1.4; margin: .8rem 0 1.2rem; max-width: none; }
.expost .banner { background: var(--alert); color: #fff; padding: .9rem 1.2rem; border-radius: 6px; max-width: none; }
.expost .banner b { display: block; font-size: 1.25rem; letter-spacing: .02em; }
.expost .banner.short { background: none; color: inherit; border: 3px solid var(--ink); }
.expost .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  gap: 1rem; margin: 1.4rem 0; }
.expost .figures div { background: var(--panel); border-radius: 6px; padding: .8rem 1rem; }
.expost dt { color: var(--soft); font-size: .85rem; }
.expost dd { margin: 0; font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.expost dd small { display: block; line-height: 1.3; margin-top: .2rem; }
.expost dd small, .expost .note, .expost td small { color: var(--soft); font-size: .85rem; font-weight: 400; }
.expost .tie { white-space: nowrap; }
@media (max-width: 30rem) { .expost { padding: 1.5rem 1rem; } .expost dd { font-size: 1.15rem; } }
.expost table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
.expost .wide { overflow-x: auto; margin: .8rem 0; }
.expost th { text-align: left; color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--soft); }
.expost th, .expost td { padding: .38rem .9rem .38rem 0; vertical-align: top; overflow-wrap: break-word; }
.expost td { border-bottom: 1px solid var(--rule); }
.expost tr.here td { font-weight: 600; background: var(--panel); }
.expost tr.ahead td { color: var(--soft); }
.expost .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.4rem 2rem; }
.expost .charts.one { max-width: 22rem; margin-top: .6rem; }
.expost .charts + h3 { margin-top: 2rem; }
.expost .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1.6rem 2.4rem; }
.expost .key i { display: inline-block; width: 1.6rem; height: .65rem; background: var(--synthetic);
  margin-right: .4rem; }
.expost .key i.dot { margin-left: 1.4rem; background: var(--released); width: .65rem; border-radius: 50%; }
.expost ol, .expost ul { padding-left: 1.3rem; max-width: 46rem; } .expost li { margin: .35rem 0; }
.expost code { font: .88em ui-monospace, monospace; overflow-wrap: break-word; }
.expost svg { width: 100%; height: auto; display: block; font: 12px system-ui, sans-serif; }
.expost svg text { fill: var(--soft); }
.expost svg .strong { fill: var(--ink); font-weight: 600; }
.expost svg .grid { stroke: var(--rule); stroke-width: 1; }
.expost svg .target { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
.expost svg .path { fill: none; stroke: var(--synthetic); stroke-width: 1.5; opacity: .45; }
.expost svg .whisker { stroke: var(--ink); stroke-width: 1.4; }
.expost svg .passed { fill: var(--synthetic); stroke: var(--synthetic); stroke-width: 2; }
.expost svg .tick { fill: none; stroke: var(--page); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.expost svg .failed, .expost svg .unchecked { fill: var(--page); stroke: var(--synthetic); stroke-width: 2; }
.expost svg .unchecked { stroke-dasharray: 2.5 2; }
.expost svg .ahead { stroke: var(--soft); stroke-width: 2; }
.expost svg .bar { fill: var(--synthetic); opacity: .8; }
.expost svg .dot { fill: var(--released); stroke: var(--page); stroke-width: 1; }
.expost svg .interval { stroke: var(--released); stroke-width: 2; }
"""
