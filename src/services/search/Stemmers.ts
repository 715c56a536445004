/* The languages for which Postgres has a stemmer, and the scripts in which they are written. */

/** The names of dictionaries; one that a version of Postgres does not have stems nothing there. */
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

/** Scripts, each with the languages whose words are written in it. */
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

/** The first part of a language tag, by which languages are compared; Norwegian has two written forms. */
export const languageOf = (tag: string): string => {
  const [language = ""] = tag.toLowerCase().split("-")
  return language === "nb" || language === "nn" ? "no" : language
}

/** The dictionary of a language; undefined where Postgres has none. */
export const dictionaryOf = (language: string): string | undefined => {
  const name = Object.hasOwn(dictionaries, language) ? dictionaries[language] : undefined
  return name === undefined ? undefined : `${name}_stem`
}

/** The languages that a word may be of and that have a stemmer. */
export const languagesOfWord = (word: string): ReadonlyArray<string> =>
  scripts.find(([script]) => script.test(word))?.[1] ?? []
