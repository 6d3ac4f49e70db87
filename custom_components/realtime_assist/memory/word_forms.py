"""What a search must know of single words: which say nothing, which belong together, months.

Plain data, folded (no case, no accents). A new language is a line in each table.
"""

from typing import Final

_STOP_WORDS: Final = {
    "en": """a an the and or but if of to in on at by for with from as about into over after before
        is are was were be been being am do does did done doing have has had having will would
        shall should can could may might must i me my mine you your yours he him his she her hers
        it its we us our ours they them their theirs this that these those there here what which
        who whom whose when where why how not no nor so than then too very just any some all both
        each more most other such own same only s t d ll m re ve yes please tell know""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber wenn von zu zum
        zur in im ins an am auf aus bei mit nach fur uber unter vor um durch ist sind war waren sei
        bin bist wird werden wurde wurden worden habe hat hatte haben hatten hast kann konnte
        konnen soll sollte sollen muss mussen darf will wollte wollen ich mich mir mein meine
        meinen meiner du dich dir dein deine er ihn ihm sein seine sie ihr ihre ihren es wir uns
        unser unsere euch euer man sich dieser diese dieses was welche welcher welches wer wen wem
        wessen wann wo wohin woher warum wieso weshalb wie nicht kein keine keinen nein so als dann
        denn da hier dort nur auch noch schon sehr mehr alle ja bitte mal doch""",
    "fr": """le la les l un une des du de d et ou mais si a au aux en dans sur sous par pour avec
        sans chez est sont etait etaient ete etre suis es sommes etes ai as avons avez ont avait
        avaient avoir fait faire peut peux pouvez doit je j me m moi mon ma mes tu te t toi ton ta
        tes il elle on nous notre nos vous votre vos ils elles lui leur leurs se s ce c cet cette
        ces cela ca qui que qu quoi quel quelle quels quelles quand ou comment pourquoi combien
        ne n pas plus non oui y tres trop aussi meme tout toute tous dont donc""",
    "es": """el la los las lo un una unos unas y e o u pero si de del a al en con sin por para sobre
        entre desde hasta es son era eran fue fueron ser sido esta estan estaba estar estado soy
        eres he ha han habia haber hay hace hizo hacer puede puedo puedes debe yo me mi mis tu te
        tus ti usted le les se su sus nos nuestro nuestra os vuestro ellos ellas ella este estos
        estas ese esa eso esto que quien quienes cual cuales cuando donde como cuanto cuanta cuantos
        cuantas no ni mas muy tambien ya""",
    "nl": """de het een en of maar als van te tot in op aan bij met naar voor over onder uit door om
        is zijn was waren ben bent wordt worden werd werden geweest heb hebt heeft hebben had hadden
        kan kon kunnen zal zou zullen moet moeten mag wil ik me mij mijn je jij jou jouw u uw hij
        hem ze zij haar wij we ons onze jullie hun hen zich dit dat deze die wat welke welk wie
        wiens wanneer waar waarom hoe hoeveel niet geen nee ja dan er daar hier nog ook al zo""",
    "it": """il lo la i gli le un uno una e o ma se di del della dei delle da dal in nel nella
        su sul con per tra fra a al alla e sono era erano stato essere sei siamo ho hai ha abbiamo
        hanno aveva avere fatto fare puo posso deve io mi me mio mia tu ti te tuo tua lui lei suo
        sua noi ci nostro voi vi vostro loro si questo questa quello quella che chi quale quali
        quando dove come perche cosa quanto quanti non no piu anche molto c l d""",
}

STOP_WORDS: Final = {language: frozenset(text.split()) for language, text in _STOP_WORDS.items()}
"""Words of each language that a question has beside what it is about."""

_RELATED: Final = """
    go goes going went gone | buy bought | take took taken | make made | see saw seen | get got
    gotten | give gave given | come came | find found | think thought | know knew known | tell
    told | say said | feel felt | leave left | keep kept | begin began begun | write wrote
    written | run ran | meet met | pay paid | sell sold | send sent | spend spent | stand stood
    | teach taught | win won | wear wore worn | break broke broken | bring brought | build built
    | catch caught | choose chose chosen | draw drew drawn | drink drank drunk | drive drove
    driven | eat ate eaten | fall fell fallen | fly flew flown | forget forgot forgotten | grow
    grew grown | hear heard | hold held | lose lost | ride rode ridden | ring rang rung | rise
    risen | show shown | sing sang sung | sit sat | sleep slept | speak spoke spoken | steal
    stole stolen | swim swam swum | throw threw thrown | understand understood | wake woke woken
    | use uses used using | lend lent | light lit | life lives | wife wives | knife knives |
    child children kid kids | man men | woman women | foot feet | tooth teeth | mouse mice |
    person people | mom mum mother mummy mommy | dad father daddy | gehe geht gehst gehen ging
    gingen gegangen gaan ga gaat gegaan | komme kommt kommst kommen kam kamen gekommen | nehmen
    nehme nimmt nimmst nahm genommen | geben gebe gibt gibst gab gegeben | sehen sehe sieht
    siehst sah gesehen | essen isst ass gegessen | trinken trinkt trank getrunken | fahren fahre
    fahrt fahrst fuhr gefahren | schlafen schlaft schlief geschlafen | lesen liest las gelesen |
    sprechen spricht sprach gesprochen | finden findet fand gefunden | bringen bringt brachte
    gebracht brengen brengt bracht | denken denkt dachte gedacht | wissen wusste gewusst |
    treffen trifft traf getroffen | schreiben schreibt schrieb geschrieben | vergessen vergisst
    vergass | kind kinder kindern kinderen | bild bilder bildern | licht lichter lichtern |
    kleid kleider kleidern | feld felder feldern | lied lieder liedern | schild schilder
    schildern | ei eier eiern eieren | haus hauser hausern haeuser haeusern | mann manner
    mannern maenner maennern | buch bucher buchern buecher buechern | land lander landern
    laender laendern | wort worter wortern woerter | tur turen tuer tueren | rad rader radern |
    glas glaser glasern glaeser glazen | blatt blatter blattern blaetter | tuch tucher tuchern
    tuecher | loch locher lochern | fach facher fachern | dach dacher dachern | bad bader badern
    | dorf dorfer | mama mutti mutter | papa vati vater | oeil yeux | va vais vont aller allez |
    prendre prend prends pris | voir vu vois voit | acheter achete achetes | oeuf oeufs | luz
    luces | voz voces | vez veces | pez peces | cruz cruces | ir voy vas fue fueron ido |
    comprar compre compro | dar doy dio dado | ver vi vio visto | kopen koop koopt kocht kochten
    gekocht | zien zie ziet zag gezien | eten eet at gegeten | stad steden | schip schepen
"""

GROUPS: Final = tuple(tuple(group.split()) for group in _RELATED.split("|"))
RELATED: Final = {word: group[0] for group in GROUPS for word in group[1:]}
"""Irregular forms, each with the word that it is looked up as."""

_MONTHS: Final = """
    january januar janvier enero januari gennaio jan|february februar fevrier febrero februari
    febbraio feb|march marz maerz mars marzo maart|april avril abril aprile apr|may mai mayo mei
    maggio|june juni juin junio giugno jun|july juli juillet julio luglio jul|august aout agosto
    augustus aug|september septembre septiembre settembre sep sept|october oktober octobre octubre
    ottobre oct okt|november novembre noviembre nov|december dezember decembre diciembre dicembre
    dec dez
"""

MONTHS: Final = {
    word: number
    for number, group in enumerate(_MONTHS.split("|"), start=1)
    for word in group.split()
}
"""Names of months, and their numbers."""
