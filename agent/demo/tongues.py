"""Requests in Portuguese, Spanish, German and French by their keywords.

It is no translation: words that the rules look for become the English ones, and everything else stays as written.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from agent.language.detect import Language

_BUILD = {
    "pt": r"(?:crie|cria|criar|construa|construir|faça|fazer|monte|montar|gere|gerar|quero|queria|gostaria\s+de"
    r"|preciso(?:\s+de)?)",
    "es": r"(?:crea|crear|cr[eé]ame|construye|construir|haz|hazme|hacer|genera|generar|monta|quiero|quisiera"
    r"|me\s+gustaría|necesito)",
    "de": r"(?:baue?|bauen|erstelle?|erstellen|mache?|machen|erzeuge?|generiere|ich\s+(?:brauche|möchte|will"
    r"|hätte\s+gern))",
    "fr": r"(?:crée[rz]?|creer|construi[st]|construire|construisez|fais|faire|faites|génère|je\s+(?:veux"
    r"|voudrais|souhaite)|j'aimerais|j'ai\s+besoin"
    r"\s+d'?)",
}

_GERMAN_RUN = (
    r"(?:und|dann|,)?\s*(?:und\s+)?(?:dann\s+)?(?:führe?|probiere?)\s+(?:ihn|sie|es|das|den\s+(?:flow|ablauf))?\s*"
    r"(?:dann\s+|danach\s+)?mit\s+(?P<kept>.+?)\s+aus(?=\W*$)"
)
_PHRASES: Mapping[Language, Sequence[tuple[str, str]]] = {
    "pt": (
        (r"(?:mud[ae]|alter[ae]|troqu?[ea])\s+o\s+(?:texto\s+do\s+)?(?:prompt|modelo)\s+para", "change the prompt to"),
        (r"(?:e|depois|então|,)?\s*(?:e\s+)?(?:execut[ea]|rod[ea]|test[ea])(?:-o|-a)?\s+com", "and run it with"),
        (r"(?:e|depois|,)?\s*(?:e\s+)?(?:execute|executa|rode|roda|teste)(?:-o|-a)(?=\W*$)", "and run it"),
        (r"letras\s+maiúsculas|maiúsculas?", "uppercase"),
        (r"letras\s+minúsculas|minúsculas?", "lowercase"),
        (
            r"(?:se|quando)\s+(?:a\s+(?:minha\s+)?mensagem|o\s+texto|ela|ele)?\s*(?:contém|contiver|contem|tiver)",
            "if it contains",
        ),
        (r"(?:se|quando)\s+(?:a\s+mensagem|o\s+texto)?\s*(?:começa|começar)\s+com", "if it starts with"),
        (r"caso\s+contrário|senão|se\s+não|do\s+contrário", "otherwise"),
        (r"endereços?\s+de\s+e-?mail|e-?mails?", "email addresses"),
        (r"(?:o|um)?\s*modelo\s+de\s+prompt|(?:o|um)\s+prompt", "a prompt"),
        (r"entrada\s+(?:de\s+|do\s+)?chat", "chat input"),
        (r"saída\s+(?:de\s+|do\s+)?chat", "chat output"),
        (r"repete|repita|ecoa|eco", "echoes"),
        (r"p[õo]e|ponha|coloc[ae]", "puts"),
        (r"antes", "before"),
        (r"a\s+palavra", "the word"),
        (r"converte|converta|transforma|transforme", "converts"),
        (r"extraia|extrai|extrair", "extracts"),
        (r"números?", "numbers"),
        (r"conta|conte|contar", "counts"),
        (r"palavras", "words"),
        (r"substitui|substitua|troca|troque", "replaces"),
        (r"resum[ae]|resumir", "summarizes"),
        (r"traduza?|traduz", "translates"),
        (r"calcula|calcule", "calculates"),
        (r"adicione|adiciona|acrescente", "add"),
        (r"remova|remove|apague", "remove"),
        (r"conecte|ligue", "connect"),
        (r"responda|responde|responder", "answers"),
        (r"qual|quais", "which"),
        (r"componentes?", "component"),
        (r"fluxos?", "flow"),
        (r"com", "with"),
        (r"por", "by"),
        (r"depois|então|em\s+seguida", "then"),
    ),
    "es": (
        ((r"cambi[ae]\s+(?:el\s+texto\s+de\s+)?(?:el|la|del)?\s*(?:prompt|plantilla)\s+(?:a"
            r"|por)"), "change the prompt to"),
        (r"(?:y|luego|después|,)?\s*(?:y\s+)?(?:ejec[uú]ta|pru[eé]ba|c[oó]rre)(?:lo|la)?\s+con", "and run it with"),
        (r"(?:y|luego|después|,)?\s*(?:y\s+)?(?:ejec[uú]ta|pru[eé]ba|c[oó]rre)(?:lo|la)(?=\W*$)", "and run it"),
        (r"mayúsculas?", "uppercase"),
        (r"minúsculas?", "lowercase"),
        (r"(?:si|cuando)\s+(?:(?:el|mi)\s+mensaje|el\s+texto)?\s*(?:contiene|incluye|tiene)", "if it contains"),
        (r"(?:si|cuando)\s+(?:(?:el|mi)\s+mensaje|el\s+texto)?\s*empieza\s+(?:con|por)", "if it starts with"),
        (r"en\s+caso\s+contrario|de\s+lo\s+contrario|si\s+no|sino", "otherwise"),
        (r"(?:direcciones?\s+de\s+)?correos?(?:\s+electrónicos?)?|e-?mails?", "email addresses"),
        (r"(?:el|un|una)\s+(?:prompt|plantilla)", "a prompt"),
        (r"entrada\s+(?:de\s+|del\s+)?chat", "chat input"),
        (r"salida\s+(?:de\s+|del\s+)?chat", "chat output"),
        (r"repit[ae]|repite|eco", "echoes"),
        (r"pon(?:ga|e)?|coloc[ae]", "puts"),
        (r"antes|delante", "before"),
        (r"la\s+palabra", "the word"),
        (r"conviert[ae]|transforma", "converts"),
        (r"extra(?:e|iga|er)", "extracts"),
        (r"números?", "numbers"),
        (r"cuent[ae]|contar", "counts"),
        (r"palabras", "words"),
        (r"reemplac?z?[ae]|sustituy[ae]|cambi[ae]", "replaces"),
        (r"resum[ae]|resumir", "summarizes"),
        (r"traduc?[ez]?c?[ae]|traducir", "translates"),
        (r"calcul[ae]", "calculates"),
        (r"añad[ae]|agreg[ae]", "add"),
        (r"elimin[ae]|borr[ae]|quit[ae]", "remove"),
        (r"conect[ae]", "connect"),
        (r"respond[ae]|contest[ae]", "answers"),
        (r"qué|cuál(?:es)?", "which"),
        (r"componentes?", "component"),
        (r"flujos?", "flow"),
        (r"con", "with"),
        (r"por", "by"),
        (r"luego|después|entonces", "then"),
    ),
    "de": (
        ((r"änder[en]*\s+(?:de[nr]|die|das)\s+(?:prompt|vorlage|text)(?:-?vorlage)?\s+(?:zu|auf"
            r"|in)"), "change the prompt to"),
        (r"vorlage", "template"),
        (_GERMAN_RUN, r"and run it with \g<kept>"),
        ((r"(?:und|dann|,)?\s*(?:und\s+)?(?:dann\s+)?teste?\s+(?:ihn|sie|es|das|den\s+(?:flow"
            r"|ablauf))?\s*(?:dann\s+)?mit"),
         "and run it with"),
        (r"(?:und|dann|,)?\s*(?:und\s+)?führe?\s+(?:ihn|sie|es|das|den\s+(?:flow|ablauf))\s+aus(?=\W*$)", "and run it"),
        (r"gro(?:ß|ss)buchstaben|gro(?:ß|ss)schreibung", "uppercase"),
        (r"kleinbuchstaben|kleinschreibung", "lowercase"),
        (r"(?:wenn|falls)\s+(?:die\s+nachricht|der\s+text|sie|er|es)\s+(?P<operand>⟦\d+⟧)\s+enthält",
         r"if it contains \g<operand>"),
        (r"(?:wenn|falls)\s+(?:die\s+nachricht|der\s+text|sie|er|es)\s+mit\s+(?P<start>⟦\d+⟧)\s+(?:beginnt|anfängt)",
         r"if it starts with \g<start>"),
        (r"sonst|andernfalls|ansonsten", "otherwise"),
        (r"e-?mail-?\s?adressen?|e-?mails?", "email addresses"),
        (r"(?:de[nrm]|die|einen?|einem)?\s*prompt(?:-?vorlage)?", "a prompt"),
        (r"chat-?\s?eingabe", "chat input"),
        (r"chat-?\s?ausgabe", "chat output"),
        (r"wiederhol(?:t|e)|echo|nachplappert", "echoes"),
        (r"umwandelt|wandelt|verwandelt|konvertiert", "converts"),
        (r"extrahiert|findet|herauszieht|heraussucht", "extracts"),
        (r"zahlen", "numbers"),
        (r"zählt", "counts"),
        (r"wörter", "words"),
        (r"ersetzt|ersetze", "replaces"),
        (r"(?:fass(?:t|e)\s+)?zusammen(?:fasst|fassen)?", "summarizes"),
        (r"übersetz(?:t|e)", "translates"),
        (r"(?:be|aus)?rechnet", "calculates"),
        (r"füge?", "add"),
        (r"entferne?|lösche?", "remove"),
        (r"verbinde?", "connect"),
        (r"antworte(?:t|n)?", "answers"),
        (r"welche[rsn]?", "which"),
        (r"komponenten?", "component"),
        (r"ablauf|flow|arbeitsablauf", "flow"),
        (r"mit", "with"),
        (r"durch", "by"),
        (r"und", "and"),
        (r"dann|danach|anschließend", "then"),
    ),
    "fr": (
        ((r"(?:change[zr]?|modifie[zr]?)\s+(?:le\s+texte\s+du\s+)?(?:le\s+)?(?:prompt|modèle)\s+(?:en"
            r"|par)"), "change the prompt to"),
        (r"(?:et|puis|ensuite|,)?\s*(?:et\s+)?(?:exécute[zr]?|lance[zr]?|teste[zr]?|essaie)(?:-l[ea])?\s+avec",
         "and run it with"),
        (r"(?:et|puis|ensuite|,)?\s*(?:et\s+)?(?:exécute[zr]?|lance[zr]?|teste[zr]?)-l[ea](?=\W*$)", "and run it"),
        (r"majuscules?", "uppercase"),
        (r"minuscules?", "lowercase"),
        (r"(?:si|quand)\s+(?:(?:le|mon)\s+message|le\s+texte|il)?\s*(?:contient|inclut|comporte)", "if it contains"),
        (r"(?:si|quand)\s+(?:(?:le|mon)\s+message|le\s+texte|il)?\s*commence\s+par", "if it starts with"),
        (r"sinon|dans\s+le\s+cas\s+contraire|autrement", "otherwise"),
        (r"adresses?\s+(?:e-?mail|électroniques?|mail)|e-?mails?|courriels?", "email addresses"),
        (r"(?:le|un|une|l')\s*(?:prompt|modèle\s+de\s+prompt|invite)", "a prompt"),
        (r"entrée\s+(?:de\s+|du\s+)?chat", "chat input"),
        (r"sortie\s+(?:de\s+|du\s+)?chat", "chat output"),
        (r"répète|écho", "echoes"),
        (r"avant|devant", "before"),
        (r"le\s+mot", "the word"),
        (r"convertit|transforme|met", "converts"),
        (r"extrait|extraire|trouve", "extracts"),
        (r"nombres?|chiffres?", "numbers"),
        (r"compte", "counts"),
        (r"mots", "words"),
        (r"remplace", "replaces"),
        (r"résume[rz]?", "summarizes"),
        (r"tradui[ts]|traduire", "translates"),
        (r"calcule", "calculates"),
        (r"ajoute[rz]?", "add"),
        (r"supprime[rz]?|enlève|retire", "remove"),
        (r"connecte[rz]?|relie", "connect"),
        (r"répond[s]?|répondre|répondez", "answers"),
        (r"quel(?:le)?s?", "which"),
        (r"composants?", "component"),
        (r"flux|flow", "flow"),
        (r"avec", "with"),
        (r"par", "by"),
        (r"et", "and"),
        (r"puis|ensuite", "then"),
    ),
}  # fmt: skip


def in_english(masked: str, spoken: Language) -> str:
    """A masked message with the words that the rules look for in English.

    Args:
        masked: the message; its quoted values stand as `⟦n⟧` and stay.
        spoken: its language.
    """
    if spoken == "en":
        return masked
    for pattern, english in _rules(spoken):
        masked = pattern.sub(english, masked)
    return masked


@cache
def _rules(spoken: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    build = (_BUILD[spoken], "build")
    return tuple(
        (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE | re.DOTALL), english)
        for pattern, english in (build, *_PHRASES[spoken])
    )
