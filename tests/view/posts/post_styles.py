"""Short templates of one post in further styles; every page repeats one for all its posts."""

PAGE = "<html><body><h1>Glue on wet oak</h1>{posts}<footer>Powered by boards</footer></body></html>"

# Fields: name, text, n (number of the post), t (its time as a datetime in UTC).
STYLES = {
    "smf": """<div class="windowbg"><div class="post_wrapper"><div class="poster"><h4>
<a href="index.php?action=profile;u={n}" title="View the profile of {name}">{name}</a></h4><ul>
<li class="postgroup">Newbie</li><li class="postcount">Posts: {n}</li></ul></div>
<div class="postarea"><div class="keyinfo"><h5 id="subject_70{n}">
<a href="index.php?topic=5.msg70{n}#msg70{n}">Re: Glue</a></h5><div class="smalltext">&#171;
<strong>Reply #{n} on:</strong> {t:%B %d, %Y, %I:%M:%S %p} &#187;</div></div><div class="post">
<div class="inner" id="msg_70{n}">{text}</div></div></div><div class="moderatorbar">
<div class="smalltext modified">&#171; <em>Last Edit: March 07, 2024, 01:00:00 AM by {name}</em>
&#187;</div></div></div></div>""",
    "mybb": """<div class="post classic" id="post_8{n}"><div class="post_author"><strong>
<span class="largetext"><a href="member.php?action=profile&amp;uid={n}">{name}</a></span></strong>
<span class="smalltext">Junior Member</span><div class="author_statistics">Posts: {n}<br>Joined:
Jan 2024</div></div><div class="post_content"><div class="post_head"><div class="float_right">
<a href="showthread.php?tid=9&amp;pid=8{n}#pid8{n}">#{n}</a></div>
<span class="post_date">{t:%m-%d-%Y, %I:%M %p}</span></div>
<div class="post_body scaleimages" id="pid_8{n}">{text}</div></div></div>""",
    "xenforo": """<li id="post-5{n}" class="message"><div class="messageUserInfo">
<h3 class="userText"><a href="members/{name}.{n}/" class="username">{name}</a>
<em class="userTitle">Active Member</em></h3></div><div class="messageInfo">
<blockquote class="messageText ugc">{text}</blockquote><div class="messageMeta"><span class="muted">
<a href="members/{name}.{n}/" class="username author">{name}</a>,
<a href="threads/5/#post-5{n}" title="Permalink"><span class="DateTime"
title="{t:%b %d, %Y at %I:%M %p}">{t:%b %d, %Y}</span></a></span></div></div></li>""",
    "wordpress": """<li id="comment-6{n}" class="comment even"><article class="comment-body">
<footer class="comment-meta"><div class="comment-author vcard"><b class="fn">{name}</b>
<span class="says">says:</span></div><div class="comment-metadata">
<a href="http://x.example/p/#comment-6{n}"><time datetime="{t:%Y-%m-%dT%H:%M:%S+00:00}">
{t:%B %d}</time></a></div></footer><div class="comment-content"><p>{text}</p></div>
<div class="reply"><a href="#respond">Reply</a></div></article></li>""",
    "invision": """<article id="elComment_3{n}" class="cPost"><aside class="ipsComment_author">
<h3 class="cAuthorPane_author"><strong><a href="/profile/{n}-{name}/">{name}</a></strong></h3><ul>
<li>Members</li><li>{n}4 posts</li></ul></aside><div class="ipsComment_content">
<div class="ipsComment_meta"><a href="/topic/5/?do=findComment&amp;comment=3{n}">Posted
<time datetime="{t:%Y-%m-%dT%H:%M:%SZ}">{t:%B %d}</time></a></div><div class="cPost_contentWrap">
<p>{text}</p></div></div></article>""",
    "hyperkitty": """<div class="email"><div class="email-header"><div class="email-author">
<div class="name"><a href="/users/{n}">{name}</a></div></div><div class="email-date">
<div class="time"><span title="Sender's time: {t:%B %d, %Y, %I:%M %p}">{t:%d %b}</span></div>
</div></div>
<div class="email-body"><p>{text}</p></div></div>""",
    "wiki talk": """<dd>{text} <a href="/wiki/User:{name}">{name}</a>
(<a href="/wiki/User_talk:{name}">talk</a>) {t:%H:%M, %d %B %Y} (UTC)</dd>""",
    "guest book": """<hr><b>Name:</b> {name}<br><b>Date:</b> {t:%B %d, %Y, %I:%M %p}<br><br>
{text}<br>""",
    "german": """<div class="kommentar" id="k{n}7"><p class="autor author">{name} am
{t:%d.%m.%Y} um {t:%H:%M} Uhr</p><div>{text}</div><a href="#antwort">Reply</a></div>""",
}
