"""The only code of ours that is mounted into the sandbox: nothing here may hold a secret or an answer."""
