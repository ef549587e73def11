"""PixelBank: the site. Importing this package loads neither Django nor Celery."""
