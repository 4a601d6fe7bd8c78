"""Chinese names of the town: family name, then a given name of two characters. Any likeness to a person is chance."""

FAMILY = tuple(
    "王李张刘陈杨黄赵周吴徐孙马胡朱郭何罗高林郑梁谢唐许冯宋韩邓彭曹曾田萧潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛阎段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向"
)
FEMALE_FIRST = tuple("丽芳秀英敏静淑慧玉兰红霞燕玲娜雪梅琳萍莉婷佳晓文雅思美春桂凤素云金月宝小海春欣怡诗梦若")
MALE_FIRST = tuple("伟强国建志文明永德俊海军家宏振荣立庆兴玉晓世光子天少正云大景卫成学金新春福俊浩宇泽一")
FEMALE_SECOND = tuple("芳娟英华慧巧美娜静淑惠珠翠雅芝玉萍红娥玲芬燕彩春菊兰凤洁梅琳素云莲真环雪荣爱妹霞香月莺媛艳瑞")
MALE_SECOND = tuple("伟刚勇毅俊峰强军平东文辉力明永健世广志义兴良海山仁波宁贵福生龙元全国胜学祥才发武新利清飞彬")
