/* Languages for which Postgres has a stemmer, and their scripts. */

/** Names of dictionaries; one that is missing in a version of Postgres stems nothing. */
const dictionaries: Readonly<Record<string, string>> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  et: "estonian",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  ne: "nepali",
  nl: "dutch",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish"
}

const latin = "ca da de en es et eu fi fr ga hu id it lt nl no pt ro sr sv tr".split(" ")

/** Scripts with the languages written in them. */
const scripts: ReadonlyArray<readonly [RegExp, ReadonlyArray<string>]> = [
  [/\p{Script=Latin}/u, latin],
  [/\p{Script=Cyrillic}/u, ["ru", "sr"]],
  [/\p{Script=Greek}/u, ["el"]],
  [/\p{Script=Arabic}/u, ["ar"]],
  [/\p{Script=Devanagari}/u, ["hi", "ne"]],
  [/\p{Script=Armenian}/u, ["hy"]],
  [/\p{Script=Tamil}/u, ["ta"]],
  [/\p{Script=Hebrew}/u, ["yi"]]
]

/** Returns the primary language of a tag, to compare languages; both written forms of Norwegian are one. */
export const languageOf = (tag: string): string => {
  const [language = ""] = tag.toLowerCase().split("-")
  return language === "nb" || language === "nn" ? "no" : language
}

/** Returns the dictionary of a language; undefined if Postgres has none. */
export const dictionaryOf = (language: string): string | undefined => {
  const name = Object.hasOwn(dictionaries, language) ? dictionaries[language] : undefined
  return name === undefined ? undefined : `${name}_stem`
}

/** Returns the languages with a stemmer that a word may belong to, by its script. */
export const languagesOfWord = (word: string): ReadonlyArray<string> =>
  scripts.find(([script]) => script.test(word))?.[1] ?? []
