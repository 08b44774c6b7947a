"""Phrases of pages that do not show their content: challenges, denials, errors, missing pages.

A phrase counts only at the start of a caption (a part of the title, or a line of the text), with
little text after it, on a page with few words: an article about captchas is no captcha. Phrases are
case folded and have straight apostrophes. They are literal strings, so that no page can make the
search slow.
"""
# ruff: noqa: RUF001 (the phrases are in many alphabets)

from dataclasses import dataclass

from freshet.core.types import Outcome

NEEDS_SCRIPT = "needs a browser that runs scripts"


@dataclass(frozen=True, slots=True)
class PhraseRule:
    """Phrases that mean an outcome, and the largest pages, in words, on which they count.

    ``max_words_for_title`` and ``max_words_for_text`` apply to a phrase in the title and in a line
    of text. A line of text counts only on a page with at most ``max_links`` links, because a form
    with a captcha is on many ordinary pages. ``max_trailing_chars`` is the number of characters
    that may follow the phrase.
    """

    outcome: Outcome
    why: str
    phrases: tuple[str, ...]
    max_words_for_title: int
    max_words_for_text: int
    max_trailing_chars: int = 4
    max_links: int = 1000


def _split(phrases: str) -> tuple[str, ...]:
    return tuple(phrase.strip().casefold() for phrase in phrases.split(";") if phrase.strip())


_CHALLENGE = _split("""
    access to this page has been denied; before we continue; bot verification;
    checking if the site connection is secure; checking the site connection security;
    checking your browser; click the button below to continue shopping; client challenge;
    complete the security check; ddos protection by; ddos-guard;
    enable javascript and cookies to continue; enter the characters you see below;
    human verification; i'm not a robot; making sure you're not a bot; one more step;
    our systems have detected unusual traffic; pardon our interruption;
    performing security verification; please complete the captcha;
    please complete the security check; please confirm that you are human;
    please confirm you are human; please enable js and disable any ad blocker;
    please stand by, while we are checking your browser; please verify that you are human;
    please verify that you are not a robot; please verify you are a human;
    please verify you are human; please wait while we verify;
    please wait while your request is being verified; powered and protected by;
    press & hold to confirm you are; prove you are human; prove your humanity;
    radware captcha page; request unsuccessful. incapsula incident id; robot check;
    security checkpoint; security verification;
    this question is for testing whether you are a human visitor;
    to continue, please type the characters; type the characters you see;
    unusual activity detected; vercel security checkpoint; verify that you are human;
    verify that you're not a robot; verify you are human; verify your identity to continue;
    verifying you are human; we need to make sure you are not; we're verifying your browser;
    your activity and behavior on this site made us think;
    bestätigen sie, dass sie ein mensch sind; bestätigen sie, dass sie kein roboter sind;
    ich bin kein roboter; sicherheitsüberprüfung; überprüfung ihres browsers;
    vérification de sécurité; vérification de votre navigateur; vérifiez que vous êtes humain;
    confirmez que vous êtes humain; je ne suis pas un robot; verifica que eres humano;
    comprobando tu navegador; no soy un robot; verificação de segurança; não sou um robô;
    verifica di essere umano; non sono un robot; controleren of u een mens bent;
    проверка безопасности; проверка браузера; подтвердите, что вы не робот; я не робот;
    安全验证; 人机验证; 请完成安全验证; 请进行验证; ロボットではありません; 보안 확인
""")

_CHALLENGE_IN_PASSING = _split("""
    are you a robot; are you human; attention required; captcha; just a moment; security check;
    verification required; einen moment; nur einen moment; un instant; un momento;
    un momento, por favor; um momento; aguarde um momento; een ogenblik; ett ögonblick;
    et øjeblikk; et øjeblik; proszę czekać; chwileczkę; один момент; одну минуту; подождите;
    bir dakika; 请稍候; 请稍等; しばらくお待ちください; 잠시만 기다리십시오
""")

_THROTTLED = _split("""
    429 too many requests; too many requests; rate limit exceeded; rate limited;
    you are being rate limited; you have been rate limited; error 1015; zu viele anfragen;
    trop de requêtes; demasiadas solicitudes; слишком много запросов
""")

_DENIED = _split("""
    403 forbidden; 403 - forbidden; access denied; access forbidden; access is denied;
    access to this site has been blocked; access to this website has been blocked; error 1020;
    sorry, you have been blocked; the request is blocked; the request could not be satisfied;
    the requested url was rejected; this content is not available in your country;
    this content is not available in your region; this site is not available in your country;
    this website is not available in your region; unavailable due to legal reasons;
    unavailable for legal reasons; you are not authorized to access this page;
    you are not authorized to view this page; you are unable to access;
    you do not have permission to access; you don't have permission to access;
    you have been blocked; your access has been blocked; your ip address has been blocked;
    your request has been blocked; zugriff verweigert; accès refusé; accès interdit;
    acceso denegado; acceso prohibido; acesso negado; accesso negato; toegang geweigerd;
    åtkomst nekad; adgang nægtet; dostęp zabroniony; přístup odepřen; доступ запрещен;
    доступ запрещён; доступ ограничен; erişim engellendi; 访问被拒绝; 拒绝访问;
    アクセスが拒否されました; 접근이 거부되었습니다
""")

_DENIED_IN_PASSING = _split("""
    request blocked; forbidden; access prohibited; no access; request rejected
""")

_NOT_FOUND = _split("""
    404 error; article not found; content not found; document not found; file not found;
    file or directory not found; no such page; object not found; page cannot be found;
    page can't be found; page could not be found; page couldn't be found; page does not exist;
    page doesn't exist; page has been removed; page is not available; page isn't available;
    page no longer available; page no longer exists; page not available; page not found;
    page wasn't found; product not found; resource not found; site not found;
    that page can't be found; that page could not be found; that page does not exist;
    the page cannot be found; the page can't be found; the page could not be found;
    the page does not exist; the page doesn't exist; the page was not found; page was not found;
    the requested page could not be found; there isn't a github pages site here;
    this content isn't available right now; this page can't be found; this page cannot be found;
    this page could not be found; this page does not exist; this page doesn't exist;
    this page has been removed; this page is no longer available; this page is not available;
    this page isn't available; this page no longer exists; seite nicht gefunden;
    seite wurde nicht gefunden; die seite wurde nicht gefunden; diese seite existiert nicht;
    diese seite gibt es nicht; seite existiert nicht; seite nicht verfügbar;
    diese seite ist nicht verfügbar; page non trouvée; page introuvable; page inexistante;
    cette page est introuvable; cette page n'existe pas; la page est introuvable;
    la page n'existe pas; erreur 404; cette page n'existe plus; página no encontrada;
    página no disponible; no se encontró la página; no se ha encontrado la página;
    esta página no existe; la página no existe; página não encontrada; página não existe;
    esta página não existe; a página não foi encontrada; pagina non trovata;
    la pagina non esiste; questa pagina non esiste; pagina non disponibile;
    pagina niet gevonden; deze pagina bestaat niet; de pagina kon niet worden gevonden;
    sidan hittades inte; sidan kunde inte hittas; sidan finns inte; sidan saknas;
    siden blev ikke fundet; siden findes ikke; siden kunne ikke findes; side ikke fundet;
    siden ble ikke funnet; siden finnes ikke; fant ikke siden; sivua ei löytynyt;
    sivua ei löydy; strona nie została znaleziona; nie znaleziono strony; strona nie istnieje;
    stránka nenalezena; stránka nebyla nalezena; stránka neexistuje; stránka sa nenašla;
    az oldal nem található; a keresett oldal nem található; pagina nu a fost găsită;
    pagina nu există; stranica nije pronađena; страница не найдена; страница не существует;
    такой страницы не существует; такой страницы нет; запрашиваемая страница не найдена;
    сторінку не знайдено; сторінка не знайдена; страницата не е намерена; sayfa bulunamadı;
    η σελίδα δεν βρέθηκε; η σελίδα δεν υπάρχει; ページが見つかりません;
    ページが見つかりませんでした; お探しのページは見つかりません;
    お探しのページが見つかりません; 页面不存在; 页面未找到; 页面找不到; 找不到页面;
    找不到该页面; 您访问的页面不存在; 頁面不存在; 找不到頁面; 找不到網頁;
    페이지를 찾을 수 없습니다; 존재하지 않는 페이지; الصفحة غير موجودة; הדף לא נמצא;
    không tìm thấy trang; halaman tidak ditemukan
""")

_NOT_FOUND_IN_PASSING = _split("""
    not found; nicht gefunden; introuvable; no encontrado; não encontrado; non trovato;
    niet gevonden; не найдено; 404
""")

_NOT_FOUND_SENTENCE = _split("""
    the requested url was not found on this server; we could not find the page;
    we couldn't find this page; we couldn't find the page; we couldn't find that page;
    we can't find this page; we can't find the page; we can't find that page;
    the page you are looking for; the page you're looking for; the page you requested;
    the page you were looking for; we're sorry, the page you; sorry, the page you;
    we're sorry. the web address you've entered is not a functioning page on our site;
    die angeforderte seite; die gesuchte seite; die von ihnen gesuchte seite;
    die von ihnen aufgerufene seite; la page demandée; la page que vous recherchez;
    la page que vous cherchez; la página que busca; la página solicitada;
    a página que você procura; la pagina che cerchi; la pagina che stai cercando;
    de pagina die je zoekt; de opgevraagde pagina; sidan du söker; strona, której szukasz;
    запрашиваемая вами страница; страница, которую вы ищете; 您要访问的页面; お探しのページ
""")

_ERROR = _split("""
    500 internal server error; 502 bad gateway; 503 service unavailable;
    503 service temporarily unavailable; 504 gateway time-out; 504 gateway timeout; bad gateway;
    bandwidth limit exceeded; could not connect to the database; database connection error;
    error establishing a database connection; gateway time-out; gateway timeout;
    internal server error; php fatal error; resource limit is reached;
    server error in '/' application; service temporarily unavailable; service unavailable;
    this account has been suspended; this site can't be reached;
    this website is temporarily unavailable; this site is temporarily unavailable;
    web server is down; website suspended; there has been a critical error on this website;
    ein fehler ist aufgetreten; une erreur est survenue; interner serverfehler;
    se ha producido un error; ocorreu um erro; si è verificato un errore;
    er is een fout opgetreden; произошла ошибка; внутренняя ошибка сервера
""")

_ERROR_IN_PASSING = _split("""
    account suspended; system down; system error; database error; application error;
    server error; error 500
""")

_ERROR_SENTENCE = _split("""
    an error has occurred; an error occurred; an unexpected error; fatal error:; invalid url;
    oops, something went wrong; parse error:; something went wrong; application error: a;
    there was an error and we couldn't load the page; uncaught exception; uncaught error;
    warning: mysql; we can't process your request right now;
    we're sorry, but something went wrong; we're sorry, we can't process your request;
    we are experiencing technical difficulties; we're experiencing technical difficulties
""")

_MAINTENANCE = _split("""
    briefly unavailable for scheduled maintenance; down for maintenance; maintenance mode;
    site maintenance; site is under maintenance; site under maintenance; the site is down;
    this site is currently undergoing; this site is under maintenance; under maintenance;
    undergoing maintenance; we are currently undergoing maintenance;
    we are down for maintenance; we'll be back soon; we'll be right back;
    we're down for maintenance; we're undergoing; website under maintenance; wartungsarbeiten;
    wartungsmodus; wir sind bald zurück; en maintenance; site en maintenance;
    sitio en mantenimiento; en mantenimiento; site em manutenção; em manutenção;
    in manutenzione; sito in manutenzione; site in onderhoud; in onderhoud; przerwa techniczna;
    технические работы; ведутся технические работы; bakım çalışması; メンテナンス中;
    ただいまメンテナンス中; 系统维护中; 网站维护中; 점검 중
""")

_SERVER_DEFAULT = _split("""
    welcome to nginx; test page for the nginx http server; apache2 ubuntu default page;
    apache2 debian default page; test page for the apache http server; it works!;
    iis windows server; default web site page; default parallels plesk page;
    web server's default page; congratulations! your website is up and running
""")

_WANTS_SCRIPT = _split("""
    doesn't work properly without javascript; enable javascript; javascript is disabled;
    javascript is not enabled; javascript is required; javascript must be enabled;
    please enable javascript; please turn on javascript; this app works best with javascript;
    this application requires javascript; this page requires javascript;
    this site requires javascript; this website requires javascript; you need javascript;
    you need to enable javascript; your browser does not support javascript;
    bitte aktivieren sie javascript; veuillez activer javascript; vous devez activer javascript;
    habilite javascript; activa javascript; ative o javascript; abilita javascript;
    schakel javascript in; włącz javascript; включите javascript; 请启用javascript;
    javascriptを有効にして
""")

# Outcome, reason, phrases, max_words_for_title, max_words_for_text, max_trailing_chars, max_links.
PHRASE_RULES = (
    PhraseRule(Outcome.CAPTCHA, "asks for proof of a human", _CHALLENGE, 150, 150, 120, 8),
    PhraseRule(Outcome.CAPTCHA, "asks to wait for a check", _CHALLENGE_IN_PASSING, 90, 25, 4, 8),
    PhraseRule(Outcome.THROTTLED, "says too many requests came", _THROTTLED, 150, 80, 30),
    PhraseRule(Outcome.DENIED, "denies access", _DENIED, 100, 80, 120),
    PhraseRule(Outcome.DENIED, "denies access", _DENIED_IN_PASSING, 100, 40),
    PhraseRule(Outcome.SOFT_404, "says the page is not there", _NOT_FOUND, 1000, 150, 12),
    PhraseRule(Outcome.SOFT_404, "says not found", _NOT_FOUND_IN_PASSING, 500, 15),
    PhraseRule(Outcome.SOFT_404, "says the page is not there", _NOT_FOUND_SENTENCE, 150, 80, 160),
    PhraseRule(Outcome.ERROR_PAGE, "reports an error of the server", _ERROR, 120, 80, 40),
    PhraseRule(Outcome.ERROR_PAGE, "reports an error of the server", _ERROR_IN_PASSING, 120, 40),
    PhraseRule(Outcome.ERROR_PAGE, "reports an error", _ERROR_SENTENCE, 60, 40, 200),
    PhraseRule(Outcome.ERROR_PAGE, "is down for maintenance", _MAINTENANCE, 120, 40, 40),
    PhraseRule(Outcome.ERROR_PAGE, "is a server's default page", _SERVER_DEFAULT, 500, 30, 30),
    PhraseRule(Outcome.EMPTY, NEEDS_SCRIPT, _WANTS_SCRIPT, 60, 60, 200),
    PhraseRule(Outcome.EMPTY, "shows only that it is loading", ("loading", "please wait"), 5, 5),
)

CHALLENGE_HEADERS = (
    ("cf-mitigated", ("challenge",)),
    ("x-amzn-waf-action", ("challenge", "captcha")),
)

CHALLENGE_MARKUP = (
    b"_cf_chl_opt",
    b"captcha-delivery.com",
    b"px-captcha",
    b"_Incapsula_Resource",
    b"anubis_challenge",
    b"sec-if-cpt-container",
    b"gokuProps",
    b"/.within.website/x/cmd/anubis/",
)
