"""Pure judge core: reads problem packages, runs untrusted code in a sandbox and makes the verdict outside of it.

Knows nothing of Django, Celery or the site. The names that the app may use:
``package.load`` reads a package, ``sandbox.ColdSandbox.detect`` finds a usable sandbox or says why there is none,
``selftest.selftest`` attacks it, ``judge.Judge`` gives verdicts.
"""
