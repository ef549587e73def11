"""The one settings module. Everything that differs between places comes from the environment (see README)."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
import structlog
from csp.constants import NONCE, NONE, SELF

from pixelbank.core import env
from pixelbank.core.env import BadEnvironment

SITE_NAME = "PixelBank"
# Django's generic classes take type arguments only in its stubs; this lets the code name them, too.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parents[2]
ENVIRONMENT = env.choice("PIXELBANK_ENV", ("development", "test", "production"), "development")
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.boolean("DEBUG", False)
if PRODUCTION and DEBUG:
    raise BadEnvironment("DEBUG is on in production: it would show secrets to visitors. Unset DEBUG.")

# Everything that the running site writes lies here: database, sockets, secret key, checkpoints.
VAR_DIR = Path(env.text("PIXELBANK_VAR", str(BASE_DIR / "var"))).resolve()
RUN_DIR = VAR_DIR / "run"
RUN_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)


def _secret_key() -> str:
    """The key from the environment; outside production one is made once and kept, so sessions survive a restart."""
    if key := env.text("SECRET_KEY"):
        if PRODUCTION and len(key) < 50:
            raise BadEnvironment("SECRET_KEY is shorter than 50 characters; in production it must not be guessable.")
        return key
    if PRODUCTION:
        raise BadEnvironment("SECRET_KEY is not set. In production it must come from the environment.")
    path = VAR_DIR / "secret_key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(64), encoding="ascii")
    return path.read_text(encoding="ascii")


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env.listing("ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1],testserver")
if PRODUCTION and not ALLOWED_HOSTS:
    raise BadEnvironment("ALLOWED_HOSTS is not set. Name the host names that this site answers to.")
CSRF_TRUSTED_ORIGINS = env.listing("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "pixelbank.core.apps.CoreConfig",
    "pixelbank.learners.apps.LearnersConfig",
    "feeds.apps.FeedsConfig",
    "problems.apps.ProblemsConfig",
    "training.apps.TrainingConfig",
    "pixelbank.chapters.apps.ChaptersConfig",
    "pixelbank.blog.apps.BlogConfig",
    "pixelbank.web.apps.WebConfig",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "csp",
    "django_structlog",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "pixelbank.core.metrics.MetricsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "pixelbank.learners.middleware.LearnerMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "pixelbank.web.outage.RedisOutage",
]

ROOT_URLCONF = "pixelbank.urls"
ASGI_APPLICATION = "pixelbank.asgi.application"
WSGI_APPLICATION = "pixelbank.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "pixelbank.web.context.site",
            ],
        },
    }
]

# --- Database: SQLite by default, PostgreSQL by DATABASE_URL ---------------------------------------------------------
_database_url = env.text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'pixelbank.sqlite3'}")
DATABASES: dict[str, Any] = {"default": dj_database_url.parse(_database_url, conn_max_age=60, conn_health_checks=True)}
_database = DATABASES["default"]
if _database["ENGINE"] == "django.db.backends.sqlite3":
    # WAL lets readers go on beside the writer. IMMEDIATE takes the write lock at BEGIN, where the timeout
    # applies; the default fails at once when a read transaction becomes a write (8 writers: 808 of 1200
    # failed, 0 with IMMEDIATE; shared/research/arch.md C.5).
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;",
    }
    # A file, not memory: tests start real workers on it.
    _database["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
    _database["CONN_MAX_AGE"] = 0
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis or Valkey: broker, event streams, cache, rate limits -----------------------------------------------------


def _redis_url() -> str:
    """REDIS_URL, else the address that the running `./dev run` left for manage.py commands beside it."""
    note = RUN_DIR / "redis_url"
    default = note.read_text(encoding="utf-8").strip() if note.exists() else f"unix://{RUN_DIR / 'valkey.sock'}"
    return env.text("REDIS_URL", default)


REDIS_URL = _redis_url()
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
    }
}

# --- Celery ----------------------------------------------------------------------------------------------------------
# kombu spells a Unix socket differently from redis-py.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Longer than any task: a message that is held longer than this is delivered again.
    "visibility_timeout": 3600,
    # kombu's defaults rescan what a dead worker held only every ~100 s; 2 and 1 make it 2 s.
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_DEFAULT_QUEUE = "feeds"
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(RUN_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "problems.sweep": {
        "task": "problems.sweep",
        "schedule": timedelta(seconds=10),
        "options": {"queue": "judge.bulk", "expires": 10},
    },
    "training.sweep": {
        "task": "training.sweep",
        "schedule": timedelta(seconds=10),
        "options": {"queue": "feeds", "expires": 10},
    },
    "feeds.poll_due": {
        "task": "feeds.poll_due",
        "schedule": timedelta(seconds=60),
        "options": {"queue": "feeds", "expires": 60},
    },
    "feeds.sweep": {
        "task": "feeds.sweep",
        "schedule": timedelta(seconds=30),
        "options": {"queue": "feeds", "expires": 30},
    },
}

# --- Security --------------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
PERMISSIONS_POLICY: dict[str, list[str]] = {
    name: [] for name in ("camera", "geolocation", "microphone", "payment", "usb", "display-capture")
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "pixelbank.web.errors.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
if PRODUCTION:
    SECURE_SSL_REDIRECT = env.boolean("SECURE_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = env.integer("SECURE_HSTS_SECONDS", 365 * 24 * 3600)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = env.boolean("SECURE_HSTS_INCLUDE_SUBDOMAINS", True)
    SECURE_HSTS_PRELOAD = env.boolean("SECURE_HSTS_PRELOAD", True)
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-session"
    CSRF_COOKIE_NAME = "__Host-csrf"

# Behind one trusted proxy (docker/): the visitor's address and scheme are the ones that it passes on.
BEHIND_PROXY = env.boolean("BEHIND_PROXY", False)
if BEHIND_PROXY:
    MIDDLEWARE.insert(0, "pixelbank.core.proxy.trusted_proxy")
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Outgoing fetches may reach these loopback ports: tests and the sample feed server. Refused in production.
FETCH_ALLOW_LOOPBACK_PORTS = [int(port) for port in env.listing("FETCH_ALLOW_LOOPBACK_PORTS")]

# --- Mail -------------------------------------------------------------------------------------------------------------
EMAIL_HOST = env.text("EMAIL_HOST")
# Without a mail server, mails are printed where the site's log goes.
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_PORT = env.integer("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.boolean("EMAIL_USE_TLS", True)
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "PixelBank <pixelbank@localhost>")

# --- Accounts --------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "learners.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/me/"
LEARNER_COOKIE_NAME = "__Host-learner" if PRODUCTION else "learner"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_SUBJECT_PREFIX = f"{SITE_NAME}: "
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if PRODUCTION else "http"
# One address an account, and a new one counts only once it is verified.
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
# With a mail server an address must be verified, by a code, so that it ends in the browser where it began and
# what the visitor did there is kept. Without one nothing can be sent, and the code would lock everybody out.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_HOST else "optional"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = bool(EMAIL_HOST)
# Counted in the cache, so in Redis, by all processes together. `key` is the address that is tried.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/5m/key",
    "signup": "20/m/ip",
    "reset_password": "20/m/ip,5/m/key",
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
}

# Social sign-in exists once both values of a provider are set, such as GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET.
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
for _provider, _home, _scope in (
    ("github", "https://github.com", "user:email"),
    ("google", "https://accounts.google.com", "email"),
):
    _names = (f"{_provider.upper()}_CLIENT_ID", f"{_provider.upper()}_CLIENT_SECRET")
    _client_id, _client_secret = (env.text(name) for name in _names)
    if bool(_client_id) != bool(_client_secret):
        raise BadEnvironment(f"Only one of {_names[0]} and {_names[1]} is set. Set both, or neither.")
    if _client_id:
        INSTALLED_APPS.append(f"allauth.socialaccount.providers.{_provider}")
        SOCIALACCOUNT_PROVIDERS[_provider] = {
            "APPS": [{"client_id": _client_id, "secret": _client_secret}],
            "SCOPE": [_scope],
        }
        # Browsers apply form-action to the redirect that answers our form, too.
        CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"].append(_home)

# --- Pages -----------------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
STATIC_URL = "/static/"
# An image holds the collected files, while its VAR_DIR starts empty.
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(VAR_DIR / "static")))
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns about a missing folder
FRONTEND_DIST = BASE_DIR / "platform" / "frontend" / "dist"
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.exists() else []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
# Outside production pages are served without a collectstatic run.
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = DEBUG
# Vite's names carry a hash of the content, so a browser never has to ask again.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/.+-[\w-]{8}\.\w+$"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# --- Rooms -----------------------------------------------------------------------------------------------------------
TRAINING_SOCKET = env.text("TRAINING_SOCKET", str(RUN_DIR / "training.sock"))
METRICS_TOKEN = env.text("METRICS_TOKEN")
EVENTS_MAX_CLIENTS = env.integer("EVENTS_MAX_CLIENTS", 500, minimum=1)
EVENTS_MAX_CLIENTS_PER_VISITOR = env.integer("EVENTS_MAX_CLIENTS_PER_VISITOR", 12, minimum=1)

# --- Logs: one JSON object a line in production, coloured lines for people elsewhere --------------------------------
_shared_processors: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            "foreign_pre_chain": _shared_processors,
        },
        "people": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.dev.ConsoleRenderer(colors=False),
            ],
            "foreign_pre_chain": _shared_processors,
        },
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("LOG_FORMAT", ("json", "people"), "json" if PRODUCTION else "people"),
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        name: {"level": env.text("LOG_LEVEL", "INFO")}
        for name in ("pixelbank", "problems", "training", "feeds", "django_structlog")
    },
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared_processors,
        structlog.processors.StackInfoRenderer(),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
DJANGO_STRUCTLOG_CELERY_ENABLED = True
# Visitors' addresses stay out of the logs; the library would also believe a header that anybody can write.
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
