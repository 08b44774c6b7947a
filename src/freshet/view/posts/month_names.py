"""Names of months: English, German, French, Spanish, Italian, Dutch and Portuguese."""

_NAMES = (
    "january jan januar jänner janvier janv enero gennaio januari janeiro",
    "february feb februar février fevrier févr febrero febbraio februari fevereiro",
    "march mar märz maerz mrz mars marzo maart março marco",
    "april apr avril avr abril aprile",
    "may mai mayo maggio mei maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet juil julio luglio julho",
    "august aug août aout agosto augustus",
    "september sept sep septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dicembre dezembro",
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
MONTH_PATTERN = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
