"""What counts as a whole word or number in a text: one table for the names of marks and for pages."""

WHOLE = {
    "Log out": ["Log out", "log OUT"],
    "Ann: log  out!": ["Log out"],
    "Total 149.00 EUR, 12 items": ["149.00", "12 items", "total 149.00 EUR"],
    "Balance −49.00, 10-20": ["−49.00", "balance", "20", "10"],
    "Room 1 299, -€49, €49": ["299", "Room 1", "-€49", "€49"],
    "1,249.00 and 1\u00a0299,00": ["1,249.00", "1 299,00", "1\u00a0299,00"],
    "2\u00a02999 and 12\u00a034": ["2999", "34", "12"],
    "Thank you! E-mail sent": ["Thank you", "mail"],
    "Unsubscribed, subscribed": ["Subscribed"],
    "A5 and 5b": ["5"],
    "Cafe\u0301": ["Café"],
    "注文を確定しました สั่งซื้อแล้ว 주문이": ["確定", "ซื้อ", "주문"],
}
"""Texts, and what stands in them."""
CUT = {
    "Log out": ["Log in", "og out", "Log ou"],
    "Total 149.00 EUR, 12 items": ["49.00 EUR", "2 items", "49.00", "149", "149.0", "12 item"],
    "Balance −49.00, -€5, 3-": ["49.00", "€5", "5", "3"],
    "Owed −€49": ["€49", "49"],
    "Owed – 5 or －5 or ﹣5": ["€5"],
    "Owed －5": ["5"],
    "1,249.00 and 1\u00a0299,00": ["249.00", "299,00", "1"],
    "1\u202f299 and 2\u2009300": ["299", "300", "1", "2"],
    "Unsubscribed, Disapproved": ["Subscribed", "approved"],
    "re\u0301sume\u0301s": ["résumé", "sumés"],
    "x\u0323\u0302y": ["y", "x"],
}
"""Texts, and what stands in them only as a part of a longer word or number, or not at all."""
