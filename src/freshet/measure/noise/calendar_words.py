"""Words of clocks and calendars, which differ by day or month: names of months, days and units."""

_ENGLISH = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri "
    "sat sun am pm"
)
_GERMAN = (
    "januar jänner februar märz april mai juni juli august september oktober november dezember "
    "mär okt dez montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
)
_FRENCH = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "lundi mardi mercredi jeudi vendredi samedi dimanche"
)
_SPANISH = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "lunes martes miércoles jueves viernes sábado domingo"
)
_ITALIAN = (
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica"
)
_PORTUGUESE = (
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro "
    "segunda terça quarta quinta sexta sábado domingo"
)
_DUTCH = (
    "januari februari maart april mei juni juli augustus september oktober november december "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
)
_LANGUAGES = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH)
CALENDAR_WORDS = frozenset(" ".join(_LANGUAGES).split())
_UNITS = (
    "second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month "
    "months year years sekunde sekunden minuten stunde stunden tag tagen woche wochen monat "
    "monaten heure heures jour jours semaine semaines mois segundo segundos minuto minutos hora "
    "horas día días semana semanas mes meses"
)
TIME_UNITS = frozenset(_UNITS.split())
