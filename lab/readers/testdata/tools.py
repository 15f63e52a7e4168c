"""Prints for each case of standard input, a line of JSON each, what botocore reads, as JSON too: MODE/ATTEMPTS, missing or
refused.

A client is made, so that what a client refuses is refused, but for what it refuses in settings of S3 and of single
sign-on. A new session for each case forgets what the one before has
refused. The settings have no defaults, so that one that is unset is seen.
"""

import json
import os
import sys

import botocore.exceptions
import botocore.session

variables = {
    "retry_mode": ("retry_mode", "AWS_RETRY_MODE", None, None),
    "max_attempts": ("max_attempts", "AWS_MAX_ATTEMPTS", None, int),
}


class NoToken:
    def load_token(self, **_):
        return None


loader = botocore.session.Session().get_component("data_loader")
for line in sys.stdin:
    os.environ.clear()
    os.environ.update(json.loads(line))
    session = botocore.session.Session(session_vars=variables)
    session.register_component("data_loader", loader)
    session.register_component("token_provider", NoToken())
    session.get_component("config_store").set_config_variable("s3", {})
    try:
        session.create_client("sts", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
        mode, attempts = session.get_config_variable("retry_mode"), session.get_config_variable("max_attempts")
        answer = "%s/%s" % ("-" if mode is None else mode, "-" if attempts is None else attempts)
    except botocore.exceptions.ProfileNotFound:
        answer = "missing"
    except Exception:  # Each kind of fault has a type of its own.
        answer = "refused"
    print(json.dumps(answer))
