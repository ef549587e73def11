"""Pure judge core: reads problem packages, runs untrusted code in a sandbox and makes the verdict outside of it.

Knows nothing of Django, Celery or the site. The names that the app may use:
``package.load`` reads a package, ``selftest.selftest`` finds a usable sandbox, attacks it, and says in a sentence what
holds or what is missing, ``judge.Judge`` gives verdicts.
"""
