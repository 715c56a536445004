import { languages } from "../../../services/instance/Languages.ts"
import type { Catalog } from "../../../services/languages/Catalogs.ts"

/** Returns all languages of posts with their names in the reader's language, by name. */
export const languageChoices = ({ tag }: Catalog): ReadonlyArray<readonly [code: string, name: string]> => {
  const names = new Intl.DisplayNames([tag], { type: "language", languageDisplay: "standard", fallback: "none" })
  return languages.map(({ code, name }) => [code, names.of(code) ?? name] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, tag))
}

/** Returns the name of a language in that language itself. */
export const ownName = (tag: string): string => new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag
