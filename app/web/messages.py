"""What shoppers are told: one sentence per code of a problem or of an `Invalid` field.

Written in Vietnamese; `message_of` says it in the language of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.shop.accounts import PASSWORD_LEAST, PASSWORD_MOST
from app.shop.money import MOST, written
from app.web.language import translated

MESSAGES: Final[Mapping[str, str]] = {
    # the shop
    "unavailable": "Cửa hàng đang bận, xin thử lại sau ít giây.",
    "invalid": "Có thông tin chưa đúng, xin xem lại.",
    "not_found": "Không tìm thấy thứ bạn cần. Có thể nó đã được gỡ xuống hoặc đường dẫn chưa đúng.",
    "email_taken": "E-mail này đã có tài khoản. Bạn hãy đăng nhập.",
    "bad_credentials": "E-mail hoặc mật khẩu chưa đúng.",
    "account_locked": "Tài khoản này đã bị khóa. Xin liên hệ với cửa hàng.",
    "link_dead": "Đường dẫn này đã được dùng, đã hết hạn hoặc không đúng. Bạn có thể yêu cầu một đường dẫn mới.",
    "forbidden": "Tài khoản của bạn không được phép làm việc này.",
    "proof_needed": "Việc này cần bạn nhập lại mật khẩu.",
    "addresses_full": "Bạn đã lưu đủ số địa chỉ. Xin xóa bớt một địa chỉ trước.",
    "orders_under_way": "Bạn còn đơn hàng đang được xử lý. Xin đợi đơn được giao hoặc hủy đơn trước.",
    "last_owner": "Đây là chủ cửa hàng cuối cùng, nên không thể thay đổi.",
    "too_many_attempts": "Bạn đã thử nhiều lần quá, xin chờ một lát rồi thử lại.",
    "login_needed": "Bạn cần đăng nhập để tiếp tục.",
    "cart_limit": "Giỏ hàng chỉ nhận được nhiều nhất {at_most} cho món này.",
    "cart_full": "Giỏ hàng đã đầy, không nhận thêm loại hàng nữa.",
    "cart_empty": "Giỏ hàng đang trống.",
    "out_of_stock": "Món này không đủ hàng: chỉ còn {left}.",
    "total_changed": "Giá vừa thay đổi: tổng tiền bây giờ là {actual}. Xin xem lại rồi xác nhận.",
    "cart_ordered": "Giỏ hàng này đã được đặt thành đơn hàng.",
    "key_in_progress": "Đơn hàng này đang được xử lý, xin chờ một lát.",
    "key_reused": "Đơn hàng này đã được gửi với thông tin khác. Xin xem lại danh sách đơn hàng.",
    # the owner's desk
    "already_done": "Việc này đã làm rồi.",
    "changed_meanwhile": "Có người vừa sửa trước bạn. Phần bạn nhập vẫn còn đây, xin so lại với bản mới rồi lưu lần nữa.",
    "sku_taken": "Mã hàng này đã có loại khác dùng.",
    "payment_refused": "Cửa hàng không nhận cách thanh toán này. Bạn có thể trả tiền khi nhận hàng.",
    "payment_declined": "Ngân hàng từ chối thẻ này. Chưa có khoản tiền nào bị thu, giỏ hàng vẫn còn nguyên. Xin chọn cách thanh toán khác.",
    "payments_unavailable": "Chưa thanh toán bằng thẻ được lúc này. Chưa có đơn hàng nào được đặt, chưa có khoản tiền nào bị thu. Xin thử lại sau ít giây, hoặc trả tiền khi nhận hàng.",
    "wrong_status": "Đơn hàng này không còn ở bước cho phép làm việc đó.",
    "webhook_refused": "Lời gọi này không mang chữ ký đúng.",
    # sessions
    "session_unavailable": "Chưa kiểm tra được tài khoản lúc này. Giỏ hàng của bạn vẫn còn nguyên, xin thử lại sau ít giây.",
    "session_ended": "Phiên làm việc này đã kết thúc. Xin đăng nhập lại.",
    "session_refused": "Có thay đổi khác vừa diễn ra cùng lúc, xin thử lại.",
    "sessions_linger": "Việc này đã xong. Các thiết bị liên quan sẽ bị đăng xuất ngay khi hệ thống phản hồi trở lại.",
    # the web
    "malformed": "Yêu cầu gửi đến không đọc được.",
    "unsupported_form": "Biểu mẫu được gửi theo một cách mà cửa hàng không nhận.",
    "method_not_allowed": "Trang này không nhận cách gửi như vậy.",
    "wrong_host": "Địa chỉ này không phải của cửa hàng.",
    "foreign_origin": "Yêu cầu này đến từ một trang web khác nên không được thực hiện.",
    "body_too_large": "Nội dung gửi lên quá lớn.",
    "overdue": "Yêu cầu đến quá muộn nên không được thực hiện. Xin thử lại.",
    "disconnected": "Kết nối bị ngắt giữa chừng.",
    "body_too_slow": "Nội dung gửi lên quá chậm, xin thử lại.",
    "too_many_requests": "Bạn gửi quá nhiều yêu cầu trong thời gian ngắn, xin chờ một lát rồi thử lại.",
    "service_busy": "Phần này đang bận, xin thử lại sau ít giây.",
    "service_failed": "Phần này đang gặp trục trặc, xin thử lại sau ít phút.",
    "service_silent": "Phần này chưa trả lời kịp, xin thử lại sau ít giây.",
    "refused": "Yêu cầu này không được chấp nhận.",
    "internal": "Cửa hàng gặp lỗi. Chúng tôi đã ghi lại và sẽ sửa.",
    # fields
    "missing": "Chỗ này không được để trống.",
    "too_long": "Chỗ này dài quá.",
    "not_text": "Chỗ này có ký tự không dùng được.",
    "repeated": "Chỗ này được gửi nhiều lần.",
    "unknown_field": "Cửa hàng không biết chỗ này.",
    "email_invalid": "Đây chưa phải là địa chỉ e-mail.",
    "password_short": "Mật khẩu cần ít nhất {password_least} ký tự.",
    "password_long": "Mật khẩu chỉ được dài tối đa {password_most} ký tự.",
    "password_wrong": "Mật khẩu hiện tại chưa đúng.",
    "quantity_invalid": "Số lượng phải là một số nguyên dương, viết bằng chữ số thường.",
    "rating_invalid": "Bạn hãy chọn từ 1 đến 5 sao.",
    "phone_invalid": "Số điện thoại cần có 8 đến 15 chữ số.",
    "province_unknown": "Không có tỉnh, thành phố này.",
    "voucher_unknown": "Cửa hàng không có mã giảm giá này.",
    "voucher_early": "Mã giảm giá này chưa đến ngày dùng được.",
    "voucher_ended": "Mã giảm giá này đã hết hạn.",
    "voucher_minimum": "Tiền hàng chưa đủ mức tối thiểu của mã giảm giá này.",
    "voucher_used_up": "Mã giảm giá này đã được dùng hết.",
    "voucher_code_invalid": "Mã gồm 3 đến 32 chữ cái không dấu, chữ số và dấu - ở giữa.",
    "voucher_taken": "Đã có mã này, xin chọn mã khác.",
    "percent_invalid": "Phần trăm phải là số nguyên từ 1 đến 100.",
    "cap_invalid": "Chỉ giảm theo phần trăm mới có mức tối đa.",
    "days_invalid": "Ngày cuối không thể trước ngày đầu, cũng không thể đã qua.",
    "voucher_used": "Bạn đã dùng mã giảm giá này đủ số lần.",
    "key_invalid": "Mã của biểu mẫu không dùng được, xin gửi lại.",
    "total_invalid": "Tổng tiền gửi lên không đúng, xin xem lại rồi xác nhận.",
    "page_invalid": "Không có trang này.",
    "price_invalid": "Giá phải là số đồng nguyên, như 100000 hoặc 100.000.",
    "amount_large": "Số tiền lớn nhất là {amount_most}.",
    "grams_invalid": "Cân nặng phải là số gam nguyên từ 0 đến 1000000, viết bằng chữ số thường, như 500.",
    "sort_invalid": "Không có cách xếp này.",
    "file_heavy": "Tệp nặng quá, tối đa 9,5 MB.",
    "currency_unknown": "Không có loại tiền này; ví dụ đúng: VND, USD.",
    "rate_missing": "Cần tỷ giá: một đơn vị tiền ấy bằng bao nhiêu đồng.",
    "rate_invalid": "Tỷ giá cần viết bằng chữ số thường, như 25400 hoặc 25400.5; tệp tiền đồng thì để trống.",
    "picture_heavy": "Hình nặng quá, tối đa 8 MB.",
    "picture_large": "Hình có quá nhiều điểm ảnh, tối đa 40 triệu.",
    "picture_unreadable": "Không đọc được hình này. Cửa hàng nhận JPEG, PNG, GIF và WebP còn nguyên vẹn.",
    "pictures_full": "Một món có tối đa 20 hình.",
    "movement_invalid": "Số lượng cần là số nguyên khác 0, thêm dấu - nếu lấy ra.",
    "options_invalid": "Một món có tối đa ba kiểu lựa chọn.",
    "values_invalid": "Mỗi kiểu lựa chọn cần một giá trị.",
    "values_taken": "Món này đã có loại như vậy, hoặc đã có quá nhiều loại.",
    "name_taken": "Đã có quá nhiều món cùng tên.",
    "role_invalid": "Không có vai trò này.",
    "status_invalid": "Không có trạng thái này.",
    "day_invalid": "Ngày cần viết như 2026-11-30.",
    "number_invalid": "Chỗ này phải là một số nguyên.",
}

LIMITS: Final[Mapping[str, object]] = {
    "password_least": PASSWORD_LEAST,
    "password_most": PASSWORD_MOST,
    "amount_most": written(MOST),
}
"""What some sentences name."""

_AMOUNTS: Final = frozenset({"expected", "actual"})
"""Facts that are whole đồng."""


def message_of(code: str, facts: Mapping[str, object] | None = None) -> str:
    """The sentence of a code, with the facts that belong into it."""
    told = {name: _told(name, value) for name, value in (facts or {}).items()}
    return translated(MESSAGES[code]).format(**LIMITS, **told)


def _told(name: str, value: object) -> object:
    return written(value) if name in _AMOUNTS and isinstance(value, int) else value
