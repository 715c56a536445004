/** Texts in a language: thoughts, some with a `{tag}` or `{link}`, and replies. */
export interface Language {
  readonly code: string
  readonly names: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly thoughts: ReadonlyArray<string>
  readonly replies: ReadonlyArray<string>
}

export const links = [
  "https://en.wikipedia.org/wiki/Murmuration",
  "https://www.w3.org/TR/activitypub/",
  "https://example.org/articles/2026/how-starlings-fly?lang=en&page=2",
  "https://example.com/a(b)c",
  "https://de.wikipedia.org/wiki/Stra%C3%9Fenbahn",
  "https://example.net/#über-uns"
]

export const languages: ReadonlyArray<Language> = [
  {
    code: "en",
    names: ["Maud Ashby", "Tom Birch", "Iris Cole", "Ned Fairley", "Ruth Okafor"],
    tags: ["birds", "gardening", "SundayPhoto", "books", "cycling"],
    thoughts: [
      "The starlings are back over the pier tonight. {tag}",
      "Finished the novel at three in the morning and I regret nothing. {tag}",
      "Does anybody have a recipe for quinces that does not take all day?",
      "Worth a read: {link}",
      "Forty kilometres, two hills, one puncture 🚲 {tag}\n\nLegs: gone. Mood: excellent.",
      "It's <b>not</b> markup & it's 5 > 4. Just checking."
    ],
    replies: ["Oh, this! So much this.", "Where was that? I'd love to go. 😍", "I disagree, but politely: {link}"]
  },
  {
    code: "de",
    names: ["Jörg Weiß", "Änne Größer", "Käthe Brömmel", "Uwe Sauer", "Mara Lindt"],
    tags: ["Straßenbahn", "Vögel", "Kochen", "Feierabend"],
    thoughts: [
      "Die Straßenbahn kam heute pünktlich. Ich wusste nicht, wie ich reagieren soll. {tag}",
      "Grüße aus dem Regen, der Kuchen ist trotzdem gelungen 🥧 {tag}",
      "Kennt jemand ein gutes Buch über Stare? {link}",
      "Übermäßig großer Ärger über Öffnungszeiten.",
      "Morgen wird gewandert: {tag}"
    ],
    replies: ["Das kenne ich nur zu gut.", "Schöne Grüße zurück!", "Hier steht mehr dazu: {link}"]
  },
  {
    code: "fr",
    names: ["Élodie Lefèvre", "Noël Garçon", "Zoé Duchêne", "Hervé Lacroix"],
    tags: ["jardin", "cinéma", "vélo"],
    thoughts: [
      "Ce matin, la brume s'est levée d'un coup : magnifique. {tag}",
      "« L'été » n'a jamais paru si loin… {tag}",
      "À lire absolument : {link}",
      "Qui a encore oublié le pain ?"
    ],
    replies: ["Tout à fait d'accord !", "Où ça ? Ça donne envie.", "Voir aussi {link}"]
  },
  {
    code: "es",
    names: ["Íñigo Muñoz", "Lucía Peña", "Andrés Güell", "Sofía Núñez"],
    tags: ["música", "mañanas", "fútbol"],
    thoughts: [
      "¡Qué mañana más fría! ¿Alguien quiere café? {tag}",
      "He vuelto a escuchar aquel disco y sigue siendo perfecto. {tag}",
      "Lo explican muy bien aquí: {link}",
      "El año que viene, sin falta, aprendo a bailar."
    ],
    replies: ["¡Totalmente!", "¿Y eso dónde es?", "Mira esto: {link}"]
  },
  {
    code: "uk",
    names: ["Оксана Шевчук", "Андрій Коваль", "Ірина Їжак"],
    tags: ["книги", "осінь"],
    thoughts: ["Сьогодні дуже тихий ранок. {tag}", "Раджу прочитати: {link}", "Хто ще не спить?"],
    replies: ["Згоден!", "Дякую, подивлюся. {link}"]
  },
  {
    code: "ja",
    names: ["山田花子", "鈴木太郎", "佐藤みどり"],
    tags: ["写真", "料理"],
    thoughts: [
      "今日は夕焼けがとてもきれいでした。 {tag}",
      "この記事がおもしろい： {link}",
      "猫が膝から降りてくれない🐈"
    ],
    replies: ["わかります！", "ありがとうございます。 {link}"]
  },
  {
    code: "ar",
    names: ["ليلى حداد", "يوسف منصور", "سلمى نجار"],
    tags: ["قهوة", "كتب"],
    thoughts: ["صباح الخير من البحر. {tag}", "مقال جميل: {link}", "هل جرّب أحد هذه الوصفة؟"],
    replies: ["صحيح تماما.", "شكرا جزيلا! {link}"]
  },
  {
    code: "pt",
    names: ["João Conceição", "Inês Magalhães", "Luís Antão"],
    tags: ["praia", "coração", "leitura"],
    thoughts: ["O mar hoje estava um espelho. {tag}", "Não percam: {link}", "Alguém tem saudades do verão? {tag}"],
    replies: ["Eu também!", "Que maravilha 🌊", "Mais sobre isso: {link}"]
  }
]
