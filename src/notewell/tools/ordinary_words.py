"""Words that do not say what a prompt is about, by language: its grammar, and what people say to
an agent about the work at hand ("thanks, now run it again").

A memory of a few notes cannot tell such a word from a rare name by counting: each is in one note.
So they are listed. A word of one language may be a content word of another one (`war`, `hat`,
`son`), therefore only the lists of the prompt's own language apply: those with the most of its
words.
"""

from __future__ import annotations

from functools import cache

from notewell.core import split_words, stem, stop_words

_ENGLISH = """
able actually add afternoon ahead almost already alright always another anymore anyway around ask
away back bad begin best better bit break bug build call change check clean clear code comment
commit compile complete continue copy correct create cut day delete describe detail diff
difference different directly double easy edit either end enough error even evening every
everything exactly example exit explain fail failing false far fast file fill find fine finish
first fix fixed follow format forward full function give go gone good great guess happen hello
help hey hi hmm hold hope how idea import improve instead issue keep kind know last later leave
left less let like line list little long look lot make many mark may maybe mean merge method mind
minute module moment morning move much name need never new next nice night nope nothing number oh
ok okay old open order original output part pass patch perfect place point possible print probably
problem pull push put question quick quickly quite read ready real really reason refactor remove
rename repeat replace report rerun reset rest restart result return revert review rewrite right
run save say see seem send set short shorter show simple simply since sleep slow small solve soon
sorry sort sound split start state step still stop sum summary sure switch take talk task test
thank thanks think though time today tomorrow tonight top total true try turn twice two understand
undo unused update use useful usual value variable version wait want warning way well whatever
whole without wonder work worse worth wrap write wrong yeah yep yes yesterday
"""

_GERMAN = """
ab abend aber ach aendern aktualisiere alle allem allen aller alles als also am an andere anderem
anderen anderer anderes anfang anfangen auch auf aus bald bau baue beginne behebe bei beide beiden
beim beispiel bescheid besser beste bevor bin bis bisher bist bitte bleib bleibt brauche brauchen
brauchst braucht bzw code da dabei dadurch dafür dagegen daher damals damit danach dank danke dann
daran darauf daraus darf darfst darin darüber darum das dass datei dateien dauert davon davor dazu
dein deine deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die dies
diese diesem diesen dieser dieses dir doch dort drin du durch dürfen eben ebenso egal eher ein
eine einem einen einer eines einfach einige einmal einverstanden ende endlich entfern entferne
entschuldigung er erklär erkläre erneut erst erste erstelle ersten es etwa etwas euch euer fang
fange fass fast fehl fehler fehlgeschlagen fehlschlagende fehlschlagenden fehlschlägt fertig finde
findest folgende formatiere frag frage fragen frei füge führe funktion funktionen funktioniert für
gab ganz gar geben gefällt gegen geh gehe gehen geht geklappt genau genauso gerade gern gerne
gesagt geschafft gestern getan gib gibt gilt ging glaube gleich gleiche gleichen gut gute guten
gutes hab habe haben habt hallo halt halte hast hat hatte hätte hatten heute hey hier hilf hilfe
hin hinzu hm hmm hoch ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer import importe in ins
irgendwas ist ja je jede jedem jeden jeder jedes jemand jetzt kann kannst kein keine keinem keinen
keiner klappt klar kommentar kommt können könnte könntest korrigiere kurz kürzer lad lade lang
lange langsam lass lasse laufen läuft leg leider letzte letzten letzter lieber lies liste los lös
lösch lösche mach mache machen machst macht mal man manche mehr mein meine meinem meinen meiner
meinst mich mir mit möchte möchtest moin moment morgen muss müssen musst na nach nachher nächste
nächsten nächster nächstes nacht name namen natürlich nee nein neu neue neuen neues nicht nichts
nie niemand nimm noch nochmal nun nur ob oben oder öffne oft oh ohne ok okay ordnung paar passiert
passt perfekt probier probiere prüf prüfe prüfen raus recht repariere richtig rückgängig ruhig sag
sage sagen sagt schau schaue schlägt schlecht schnell schon schön schreib schreibe schritt sehen
sehr sei seid sein seine seinem seinen seiner seit setz setze sich sie sieh sieht sind so sobald
sofort sogar soll sollen sollst sollte sollten sondern sonst sorry sortiere später starte steht
stelle stimmt stop stopp such suche super teil teile test teste tests toll trotzdem tschüss tu tue
tun tust über überall um umbenennen unbenutzten und uns unser unsere unserem unseren unserer unten
unter unterschied usw variable variante verbessere verstanden versteh verstehe versuch versuche
viel viele vielen vielleicht vom von vor vorher vorn vorne wann war wäre waren warst warte warten
warum was weg wegen weil weise weit weiter weiß weißt welche welchem welchen welcher welches wem
wen wenig weniger wenn wer werde werden wie wieder wieso will willst wir wird wirf wirklich wirst
wo woher wohin wohl wollen wollte wollten worden worum wurde würde wurden würden zeig zeige zeigen
zeile zu zuerst zum zur zurück zusammen zusammenfassen zwar zwei zwischen
"""

_FRENCH = """
a abord absolument accord afin ah ai aide aie ailleurs ainsi ajoute ajouter allez allons alors an
annule annuler appelle après arrête as assez attendez attends au aucun aucune aujourd'hui aussi
autant autre autres aux avaient avais avait avant avec avez avoir avons ayant bah beaucoup besoin
bien bon bonjour bonne bonnes bons bonsoir but ça car ce cela celle celles celui cependant ces cet
cette ceux change changement chaque chez chose choses ci code combien comme commence comment
commentaire compile comprendre comprends contre copie corrige corriger coupe court crée d'abord
d'accord dans de début dedans dehors déjà demain depuis dernier dernière des dès désolé deux
deuxième devant devrait différence dire dis dit dois doit doivent donc donne dont du dur écrire
écris également elle elles en encore enfin enlève ensuite entre envers environ envoie erreur es
essaie essaye est et étaient étais était étant étape état été êtes étions être eu eux exactement
exemple explique expliquer fais faisait faisons fait faites fallait faudrait faut faux fera ferme
fichier fichiers fin fini finir fois fonction fonctionne fonctions font formate hé hein hier hors
hum ici idée il ils import imports inutiles je juste l la là laisse laquelle le lent lequel les
lesquels leur leurs ligne lis liste loin long longtemps lorsque lui ma maintenant mais mal marche
marché marchent matin mauvais me même mêmes merci mes met mets mettre mien mieux modifie moi moins
moment mon montre montrer mot n na ne ni nom nombre non nos note notre nous nouveau nouvelle nuit
oh ok on ont ou où oublie oui ouvre par parce pardon pareil parfait parle part parti partie pas
passe passé passer passons pendant pensais pense penses petit peu peut peut-être peux plaît plus
plusieurs plutôt possible pour pourquoi pourrais pourrait pouvez premier première prend prendre
prends près presque prêt problème prochain prochaine puis puisque qu quand quant que quel quelle
quelles quelque quelques quels question qui quoi quoique raison rapide rapidement recommence
réessaie refais regarde relance remets remplace renomme répare répète reprends reste résultat
résume résumé retire revenir rien s sa sais sait salut sans sauf se sens sera serait ses seul
seulement si sien simple sinon soir sois soit sommes son sont sorte sous souvent suis suite
suivant suivante super supprime sur sûr ta tandis tant tard te tel telle tellement temps termine
terminé tes test tests tiens toi ton tôt toujours tous tout toute toutes travail très trie trop
trouve tu un une utilise va vais valeur variable vas vérifie vérifier vers version veut veux viens
vient vite voici voilà voir vois voit vos votre voudrais voulais voulait vous vrai vraiment vu y
"""

_SPANISH = """
a acá adelante además adiós ah ahí ahora al algo alguien algún alguna algunas algunos allá allí
ambos añade antes aquel aquella aquello aquí archivo archivos arregla así atrás aún aunque ayer
ayuda bajo bastante bien borra buen buena buenas bueno buenos cada cambia cambio casi cerca cierto
claro código comentario comienza como cómo compila completo con continúa contra copia corrige
corto cosa cosas crea creo cual cuál cuales cualquier cuando cuándo cuanto cuánto dale de debe
debería debes deja del dentro desde deshacer deshacerlo deshaz después detrás di día días dice
diferencia dime dio donde dónde dos durante e ejecuta ejemplo el él ella ellas ellos empieza en
encima enséñame entendido entiendo entonces entre era eran eres error es esa esas escribe ese eso
esos espera espere está estaba estamos están estar estas estás este esté estés esto estos estoy
estuvo etc explica explícame falla fallan fallo falta fin formatea fue fuera fueron función
funciona funciones gracias gran guarda ha haber había habría hace hacemos hacer hacerlo haces
hacia haga hago han has hasta hay haz hazlo he hecho hemos hola hora hoy idea igual intenta ir
jamás junto la largo las le lee lento les línea lista listo lo los luego mal malo mañana más me
mejor menos mensaje mi mí mía mientras mira mis misma mismas mismo mismos momento mostrar mucha
muchas mucho muchos muestra muéstrame muy nada nadie necesita necesitas necesito ni ningún ninguna
no noche nombre nos nosotros nuestra nuestro nueva nuevo nunca o ok okay ordena os otra otras otro
otros para parece parte pasa paso pasó pasos pequeño perdón perfecto permite pero poco podemos
podría pon poner por porque posible primer primera primero prueba pruebas pude pueda puede pueden
puedes puedo pues que qué quería quien quién quiere quieres quiero quita quizá quizás rápido razón
renombra repite resultado resume resumen revisa sabe sabes sal se sé sea seguimos seguir según
segundo sentido ser será si sí sido siempre siento sigue siguiente sin sino sobre sois solo sólo
somos son soy su sube sus tal también tampoco tan tanto tarde tardes te tenemos tener tengo
termina terminado terminaste ti tiempo tiene tienen tienes toda todas todavía todo todos toma
trabajo tras tu tú tus un una unas uno unos usa usar usted va vale vamos van variable varias
varios vas ve veces ver verdad versión vez vista voy vuelta vuelve y ya yo
"""

_ITALIAN = """
a abbastanza abbiamo ad adesso aggiungi ai aiuto al alcuni alla alle allo allora altra altre altri
altro anche ancora andare annulla apri aspetta attimo avanti avere avete aveva bene bisogno buona
buongiorno buono c cambia cancella capisco capito cerca certo che chi ci ciao ciò cioè codice come
commento con continua copia correggi corretto corri cosa cose così cui da dai dal dalla dalle
dammi davvero degli dei del dell della delle dello dentro deve devi devo di dici differenza dimmi
dire dopo dove dovrebbe due dunque e è ecco ed era erano errore esatto esegui esempio essere fa
faccia facciamo faccio fai fallisce fallito fammi fanno fare fatto ferma file fine finito fino
forse fra funziona funzione funzioni fuori già gli grazie ha hai hanno ho i idea ieri il importa
in indietro infatti inizia insieme invece io la lascia le leggi lei lento li lì lista lo loro lui
lungo ma mai male meglio meno mentre metti mi mia miei migliora mio modo molto momento mostra
mostrami ne nei nel nella nelle nello nessuno niente no noi nome non nostra nostro nulla nuova
nuovo o od oggi ogni ok okay oppure ora ordina ordine parte passo pensi per perché perfetto però
piacere piccolo più poco poi possiamo possibile posso potrebbe prego prendi presto prima primo
problema prossimo prova provo può puoi pure qua qual qualche qualcosa quale quali quando quanto
quasi quella quelle quelli quello questa queste questi questo qui quindi riassumi rifai riga
rileggi rimuovi rinomina ripeti riprova rispetto risultato sai saluti salva sarà sarebbe sbagliato
scrivi scusa se secondo sei sembra sempre sentire senza si sì sia siamo sicuro siete simile solo
sono sopra sotto spiega spiegami sposta sta stai stanno stata stato stesso sto su sua subito
successo sue sui sul sulla suo suoi tale tanto te tempo test ti togli tra troppo trova tu tua tue
tuo tutta tutte tutti tutto un una uno usa va vai vale valore vedi veloce veramente vero versione
verso vi via vicino voglio voi volevo volta volte vostro vuoi
"""

_PORTUGUESE = """
a abre acho adiciona agora aí ainda ajuda além algo alguém algum alguma algumas alguns ali amanhã
antes ao aos apaga apenas aquela aquele aqui aquilo arquivo as até atrás avança bem boa boas bom
bons cada certo claro código com comece comenta comentário comigo como compila continua continue
contra copia corrige corrija cria da dá daqui das de deixa dela dele demais depois desde desfaz
deve devemos dia dias diferença diga diz do dois dos e é ela elas ele eles em enquanto então
entendi entendo entre era eram erro escreva escreve espera espere essa essas esse esses esta está
estamos estão estar estas estava este estes estou eu exemplo explica explique faça falha falta faz
fazer feito ficou fim foi fora foram formata função funciona funções gostaria grande há hoje ideia
igual importa início ir isso isto já jeito junto lá leia lento lhe linha lista logo longo mais mal
mas me melhor menos mesma mesmo meu meus minha minhas momento mostra mostre muda mudança muito
muitos na nada não nas nem nenhum nesta neste ninguém no nome nos nós nossa nosso nova novo nunca
o obrigada obrigado oi olá onde ontem ordena os ou outra outras outro outros para pare parece
parte passo pela pelo pequeno perfeito pergunta pode podemos poderia põe pois por porque pouco
precisa preciso primeiro problema pronto próximo quais qual qualquer quando quanto quase que quê
quem quer quero rápido refaça remova remove renomeia repete resultado resuma resumo roda sabe
sabia se segue seguinte seguir seja sem sempre ser será seria seu seus si sim sinto só sobre somos
sou sua suas talvez também tanto tarde te tem têm temos tempo tenho tenta tente ter termina
terminou teste testes teu tira toda todas todo todos tu tudo um uma usa use vai vale valor vamos
vão variável veja ver verdade verifica versão vez vezes viu você vocês volta vou
"""

_DUTCH = """
aan af al alle alleen alles als altijd ander andere anders bedankt beetje begin beginnen begrijp
ben bent bestand bestanden beste beter bij bijna binnen boven code controleer daar daarna dag dan
dank dankje dankjewel dat de deel deze die dit doe doen doet door draai druk dus duurt echt een
eens eerst eerste eigenlijk einde elk elke en enkele er erg ergens even fout fouten functie ga
gaan gaat gebeurt gebruik gedaan geef geen gemaakt genoeg gewoon goed goede goedemorgen graag
groot haal had hadden hal hallo heb hebben hebt heeft heel help hem hen herhaal het hetzelfde hier
hij hoe hoeveel hoi hun iemand iets ik in is ja je jij jou jouw juist jullie kan kant keer kijk
klaar klein klopt kom komt kon kort korter kun kunnen kunt laat laatste lang langzaam lees leg
lijkt lijst los maak maakt maar mag makkelijk me mee meer meest met meteen mij mijn minder
misschien mist moet moeten mogelijk moment mooi morgen na naam naar naast natuurlijk nee niemand
niet niets nieuw nieuwe nodig nog nogmaals nooit nou nu of ok oké om omdat onder ons onze ook
oorspronkelijk op opeens open opnieuw opslaan over pak pas perfect plaats precies probeer probleem
raar regel resultaat samen schrijf snel sommige sorry sorteer stap start stop stuur tegen ten
terug test testen tijd toch toen toon tot tussen twee u uit uitleg uw vaak van vandaag variabele
veel verander verder vergeet verschil versie verwijder vind voeg volgend volgende voor voorbeeld
vooruit vraag waar waarom wacht wanneer want was wat weer weet weg wel welk welke werd werk werkt
wie wij wil wilde willen wilt woord worden wordt zal ze zeg zeker zelf zelfde zet zie zien zij
zijn zo zoals zoek zonder zou zouden zullen
"""

_RUSSIAN = """
а без бы был была были было быть в вам вас ваш ведь вернее вернись верно весь вместе во вот время
все всё всегда всего всех вы где говори готов готово да давай дай далее дальше дать два две делай
делать день для до добавь добрый должен другая другие другое другой его ее её если есть еще ещё
ждать жди же за зачем здесь знаю и из или им имя иногда исправь их к каждый как какая какие какой
ко когда код комментарий конец конечно короче который кто куда ладно лучше мало меня много можешь
можно мой мы на над надо назад напиши нас начни наш не него нее неё нет ни нибудь никогда ничего
но новый ну нужно о об объясни один ок окей он она они опять от отлично отмени очень ошибка ошибку
по повтори под подожди пожалуйста пока покажи понял понятно попробуй потом потому почему почти
поэтому правильно прекрасно при привет проверь продолжай продолжить происходит просто прочитай
прошло пусть работает раз разница результат с сам сделай сделать сейчас следующий снова со совсем
спасибо список стой стоп строка так такой там твой тебя тем теперь тест тесты то тогда того тоже
только том тот ты у удали уже утро файл файле функцию функция хорошо хотел хочу хуже часть чего
чем через что чтобы чуть шаг эта эти это этого этой этом этот я
"""

_CHINESE = """
一下 一个 一些 一样 一次 一步 一点 一行 一遍 上好 上面 下一 下午 下去 下来 下面 不了 不到 不可
不同 不好 不完 不对 不懂 不是 不用 不知 不行 不要 不过 不错 为什 么做 么办 么样 了吗 事情 什么
代码 以前 以及 以后 们的 任何 会不 但是 位置 何时 你们 你好 你的 你能 使用 保存 停 停下 停止 其他
再来 再次 再见 再试 准备 出来 出错 函数 分开 列表 刚才 删掉 删除 到底 加一 加上 加入 单元 原因
原来 去掉 参数 发生 取消 变量 只是 可以 可能 合并 名字 名称 后面 吗请 告诉 哪个 哪些 哪里 嗯 嗯嗯
回事 回去 因为 在哪 增加 多久 多少 太好 失败 头开 好 好了 好吗 好吧 好的 如何 如果 始吧 它们 完全
完成 完美 实现 对 对吗 对的 导入 就是 帮忙 帮我 应该 开始 很好 怎么 您好 情况 想要 意思 感谢 慢一
慢点 成功 我们 我想 我的 或者 所以 所有 打开 执行 报错 拆成 按照 排序 接下 接着 推送 提交 插入
撤回 撤销 收到 改动 改回 改成 改进 文件 方法 早上 时候 时间 明白 是吗 是否 是的 晚上 晚安 更新
最后 有没 有点 有用 本来 来一 来吧 标题 样子 格式 检查 死了 每个 比较 没事 没关 没有 没用 没问
注释 测试 清楚 清理 然后 版本 特别 现在 生成 用的 用途 的话 直接 相同 看一 看下 看不 看看 看起
真的 知道 短一 研究 确定 确认 程序 稍微 稍等 等一 等下 等等 简单 算了 类型 继续 编译 缩短 能不
能否 自己 行 行了 行吗 行吧 要不 觉得 解决 解释 言之 让我 记得 试一 试试 读一 谁的 谢了 谢谢 辛苦
运作 运行 还是 还有 还要 这个 这些 这儿 这是 这样 这里 进行 退出 退回 通过 速度 遇到 那个 那么
那些 那儿 那样 那里 部分 都是 重做 重新 重构 重试 错了 错误 问题 需要 非常 首先 默认
"""

_JAPANESE = """
あり ある いい いえ いま いる うん おは お願 から くだ ください ここ こと この これ こん さい さら
しい した して しま すぐ すみ する せん そう そこ その それ たい だけ ただ だっ たら ちょ った
って つぎ つづ てい でき です では でも とう どう どこ どの どれ ない なか なぜ など なに なら
なる にし には ので のは はい ます ませ また まだ まで もう もっ もの やっ やめ よう よし より
よろ れる わか わた を実 一度 丈夫 了解 今度 何が 何で 何を 修正 再度 削除 変更 大丈 完了 実行
待っ 後で 戻し 教え 書い 最後 有難 次に 次の 次へ 直し 確認 終わ 続き 続け 良い 見せ 説明 追加
進め 間違 関数 願い
"""

# For the languages below only what makes a whole prompt: thanks, yes, no, go on, again, why.

_SCANDINAVIAN = """
är bra den det du en ett fortsätt fortsett fortsæt gå gjør gør hej hva hvad hvorfor igen igjen
ikke inte ja jag jo kan klar klart kör nästa nej nu och og ok okej på så sluta snälla som stopp
tack tak takk testa til vad vänta varför varsågod vent
"""

_POLISH = """
co czekaj dalej dlaczego dobra dobrze dzięki dziękuję gotowe i jak jasne jeszcze kontynuuj na nie
ok popraw proszę raz się świetnie tak teraz to w z że źle
"""

_TURKISH = """
ama bekle bir bu çok da daha de devam düzelt et evet hayır iyi lütfen mi ne neden ok peki sağol
şimdi tamam tekrar tekrarla teşekkürler ve yap
"""

_KOREAN = """
감사 계속 고마 그래 그만 네네 다시 다음 뭐야 부탁 세요 속해 아니 알겠 알았 왜요 요청 이제 좋아
지금 합니 해주 해줘 확인
"""

_LISTS = (
    _GERMAN,
    _FRENCH,
    _SPANISH,
    _ITALIAN,
    _PORTUGUESE,
    _DUTCH,
    _RUSSIAN,
    _CHINESE,
    _JAPANESE,
    _SCANDINAVIAN,
    _POLISH,
    _TURKISH,
    _KOREAN,
)

_ELISIONS = frozenset({"c", "d", "j", "l", "m", "n", "qu", "s", "t"})
"""Before an apostrophe, in French and Italian: `qu'est`, `l'index`."""


@cache
def _lists() -> tuple[frozenset[str], ...]:
    """As they are written: to split them like notes would take longer than the search."""
    english = frozenset(map(stem, _ENGLISH.split())) | stop_words()
    return (english, *(frozenset(words.split()) for words in _LISTS))


def ordinary_terms(prompt: str) -> frozenset[str]:
    """The words of a prompt that are ordinary ones in its language, as they are searched."""
    words = [word for word in split_words(prompt) if not word.single]
    spelled = [_spellings(prompt[word.start : word.end], word.forms[0]) for word in words]
    known = [[at for at, forms in enumerate(spelled) if forms & one] for one in _lists()]
    most = max(map(len, known))
    places = {at for some in known if len(some) == most for at in some}
    return frozenset(form for at in places for form in words[at].forms)


def _spellings(text: str, form: str) -> frozenset[str]:
    plain = text.casefold().replace("’", "'")
    elided, _, rest = plain.partition("'")
    return frozenset({plain, form, rest if elided in _ELISIONS else form})
