"""Runs a shop's flow with the client that a public generator makes of the description: a code is created, validated, redeemed and found
again, and a refusal is read. Requests and answers have the types of the description."""

import sys
import time

from scrip_client import Client
from scrip_client.api.redemptions import list_redemptions, redeem
from scrip_client.api.validations import validate
from scrip_client.api.vouchers import get_voucher, create_voucher_with_code
from scrip_client.models import Error, RedeemBody, ValidateBody, CreateVoucherWithCodeBody

url, app, token = sys.argv[1:]
client = Client(base_url=url, headers={"X-App-Id": app, "X-App-Token": token})
code = f"PY-{time.time_ns()}"

made = create_voucher_with_code.sync(
    code=code,
    client=client,
    body=CreateVoucherWithCodeBody.from_dict(
        {"type": "DISCOUNT_VOUCHER", "discount": {"type": "PERCENT", "percent_off": 10}, "redemption": {"quantity": 1}}
    ),
)
assert made.code == code, made

asked = {"redeemables": [{"object": "voucher", "id": code}], "order": {"amount": 10_470}}
validation = validate.sync(client=client, body=ValidateBody.from_dict(asked))
assert validation.valid is True, validation
assert validation.order.total_amount == 9_423, validation.order

redeemed = redeem.sync(client=client, body=RedeemBody.from_dict(asked), idempotency_key=code)
assert [one.result for one in redeemed.redemptions] == ["SUCCESS"], redeemed

assert get_voucher.sync(code=code, client=client).redemption.redeemed_quantity == 1

assert len(list_redemptions.sync(client=client, limit=5).redemptions) > 0

refused = get_voucher.sync_detailed(code=f"{code}-none", client=client)
assert refused.status_code == 404, refused
assert isinstance(refused.parsed, Error) and refused.parsed.key == "not_found", refused.parsed

print("the Python client works")
