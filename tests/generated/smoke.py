"""Decides what a shop does with the client that a public generator makes of the description: a code is made, tried, redeemed and found
again, and a refusal is read. Requests are the types of the description, and so are the answers."""

import sys
import time

from scrip_client import Client
from scrip_client.api.redemptions import get_v1_redemptions, post_v1_redemptions
from scrip_client.api.validations import post_v1_validations
from scrip_client.api.vouchers import get_v1_vouchers_code, post_v1_vouchers_code
from scrip_client.models import Error, PostV1RedemptionsBody, PostV1ValidationsBody, PostV1VouchersCodeBody

url, app, token = sys.argv[1:]
client = Client(base_url=url, headers={"X-App-Id": app, "X-App-Token": token})
code = f"PY-{time.time_ns()}"

made = post_v1_vouchers_code.sync(
    code=code,
    client=client,
    body=PostV1VouchersCodeBody.from_dict(
        {"type": "DISCOUNT_VOUCHER", "discount": {"type": "PERCENT", "percent_off": 10}, "redemption": {"quantity": 1}}
    ),
)
assert made.code == code, made

asked = {"redeemables": [{"object": "voucher", "id": code}], "order": {"amount": 10_470}}
validation = post_v1_validations.sync(client=client, body=PostV1ValidationsBody.from_dict(asked))
assert validation.valid is True, validation
assert validation.order.total_amount == 9_423, validation.order

redeemed = post_v1_redemptions.sync(client=client, body=PostV1RedemptionsBody.from_dict(asked), idempotency_key=code)
assert [one.result for one in redeemed.redemptions] == ["SUCCESS"], redeemed

assert get_v1_vouchers_code.sync(code=code, client=client).redemption.redeemed_quantity == 1

assert len(get_v1_redemptions.sync(client=client, limit=5).redemptions) > 0

refused = get_v1_vouchers_code.sync_detailed(code=f"{code}-none", client=client)
assert refused.status_code == 404, refused
assert isinstance(refused.parsed, Error) and refused.parsed.key == "not_found", refused.parsed

print("the Python client works")
