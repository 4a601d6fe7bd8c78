"""Vietnamese names of the town: family name, middle name, given name. Any likeness to a person is chance."""

# A few family names serve most people; the first ones are written more often, as they occur.
_FAMILY = """
    Nguyễn Nguyễn Nguyễn Nguyễn Nguyễn Nguyễn Nguyễn Nguyễn Trần Trần Trần Lê Lê Lê Phạm Phạm Hoàng Huỳnh Phan Vũ Võ
    Đặng Bùi Đỗ Hồ Ngô Dương Lý Đinh Trịnh Mai Tô Lâm Cao Lưu Tạ Hà Thái Châu Quách Vương La Triệu Kiều
"""
_FEMALE_MIDDLE = """
    Thị Thị Thị Ngọc Thu Thanh Minh Phương Kim Hồng Bích Mỹ Thùy Tuyết Diệu Khánh Bảo Hoài Quỳnh Ánh Lan Cẩm Như Xuân
"""
_MALE_MIDDLE = """
    Văn Văn Văn Hữu Đức Minh Quang Công Quốc Thành Ngọc Xuân Đình Anh Gia Hoàng Tuấn Trọng Việt Bá Duy Thế Khắc Nhật
"""
_FEMALE_GIVEN = """
    An Anh Bình Châu Chi Cúc Diễm Dung Duyên Đào Giang Hà Hạnh Hằng Hân Hiền Hiếu Hoa Hòa Hồng Huệ Huyền Hương Khanh
    Khuê Lan Lài Lệ Liên Liễu Linh Loan Ly Mai Mận Minh My Na Nga Ngà Ngân Ngọc Nguyệt Nhi Nhàn Nhung Nụ Oanh Phúc
    Phượng Quyên Quỳnh Sen Sương Tâm Thảo Thắm Thoa Thơ Thu Thúy Thủy Thương Tiên Trà Trang Trâm Trinh Trúc Tú Tuyết
    Uyên Vân Vi Vy Xuân Xuyến Yến
"""
_MALE_GIVEN = """
    An Ân Bách Bảo Bằng Bình Cảnh Chiến Chung Chương Công Cường Danh Dũng Duy Dương Đại Đạt Điền Đông Đức Giang Hải Hào
    Hậu Hiển Hiệp Hiếu Hòa Hoàng Hùng Huy Hưng Khải Khang Khánh Khoa Khôi Kiên Kiệt Lâm Lân Lộc Lợi Long Luân Lực Mạnh
    Minh Nam Nghĩa Nguyên Nhân Nhật Phát Phong Phú Phúc Phước Quân Quang Quốc Quý Quyết Sang Sáng Sơn Tài Tâm Tân Thái
    Thắng Thành Thiện Thịnh Thọ Thông Tiến Toàn Trí Trung Trường Tuấn Tùng Vinh Vũ Vượng
"""

FAMILY = tuple(_FAMILY.split())
FEMALE_MIDDLE = tuple(_FEMALE_MIDDLE.split())
MALE_MIDDLE = tuple(_MALE_MIDDLE.split())
FEMALE_GIVEN = tuple(_FEMALE_GIVEN.split())
MALE_GIVEN = tuple(_MALE_GIVEN.split())
