import { Effect } from "effect"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { bounded } from "../text/BoundedText.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import {
  type Filter,
  type FilterAction,
  filterActions,
  filterCharactersMax,
  type FilterContext,
  filterContexts,
  filterKeywordBytesMax,
  filterKeywordCharactersMax,
  filterKeywordsMax,
  filtersMax,
  filterTitleCharactersMax
} from "./Filter.ts"
import { prepareKeyword } from "./FilterText.ts"

/** Maximum duration of a filter, in seconds: a century. */
const filterSecondsMax = 3_155_760_000

/** A keyword to add or, with an id, to change or remove. */
export interface KeywordChange {
  readonly id?: bigint | undefined
  readonly keyword?: string | undefined
  readonly wholeWord?: boolean | undefined
  readonly remove?: boolean | undefined
}

/** Requested changes of a filter; undefined fields are kept. */
export interface FilterChange {
  readonly title?: string | undefined
  readonly contexts?: ReadonlyArray<string> | undefined
  readonly action?: string | undefined
  /** Duration from now, in seconds; null for no end. */
  readonly expiresIn?: number | null | undefined
  readonly keywords?: ReadonlyArray<KeywordChange> | undefined
}

/** A keyword of the changed filter; its id is null if new. */
interface KeywordDraft {
  readonly id: bigint | null
  readonly keyword: string
  readonly wholeWord: boolean
}

/** A filter after a change, before it is written. */
export interface FilterDraft {
  readonly title: string
  readonly contexts: ReadonlyArray<FilterContext>
  readonly action: FilterAction
  readonly expiresAt: Date | null
  readonly keywords: ReadonlyArray<KeywordDraft>
}

/** Defaults of a new filter. */
export const blankFilter: FilterDraft = { title: "", contexts: [], action: "warn", expiresAt: null, keywords: [] }

/** Returns a keyword as it is compared, cut to `filterKeywordBytesMax`. */
const prepared = (keyword: string, wholeWord: boolean) =>
  prepareKeyword(bounded(keyword, filterKeywordBytesMax), wholeWord)
const isBlank = (text: string) => text.trim() === "" || prepared(text, false) === ""

/**
 * Applies a change to a filter at `now` (milliseconds since 1970); `others` are the owner's other filters. Fails for
 * invalid values and exceeded limits.
 */
export const changed = Effect.fnUntraced(
  function*(before: FilterDraft, change: FilterChange, others: ReadonlyArray<Filter>, now: number): Effect.fn.Return<
    FilterDraft,
    RecordNotFound | Unprocessable
  > {
    const problems: Array<string> = []
    const problem = (text: string) => problems.includes(text) || problems.push(text)
    const title = change.title ?? before.title
    if (title.trim() === "") problem("Title can't be blank")
    if (hasMoreCharacters(title, filterTitleCharactersMax)) {
      problem(`Title is too long (maximum is ${filterTitleCharactersMax} characters)`)
    }

    const named = change.contexts?.map((context) => context.trim()).filter((context) => context !== "") ??
      before.contexts
    const contexts = filterContexts.filter((context) => named.includes(context))
    if (named.length === 0) problem("Context can't be blank")
    if (named.length === 0 || named.some((name) => !contexts.some((context) => context === name))) {
      problem("Context None or invalid context supplied")
    }

    const action = filterActions.find((one) => one === (change.action ?? before.action))
    if (action === undefined) problem("Filter action is not included in the list")

    const keywords = yield* keywordsOf(before.keywords, change.keywords ?? [])
    for (const { keyword } of keywords) {
      if (isBlank(keyword)) problem("Keyword can't be blank")
      if (
        hasMoreCharacters(keyword, filterKeywordCharactersMax) ||
        prepared(keyword, false).length > 4 * filterKeywordCharactersMax
      ) problem(`Keyword is too long (maximum is ${filterKeywordCharactersMax} characters)`)
    }
    if (problems.length > 0 || action === undefined) return yield* validationFailed(...problems)
    yield* withinLimits(keywords, others)
    return { title, contexts, action, expiresAt: expiryOf(before, change, now), keywords }
  }
)

const expiryOf = (before: FilterDraft, { expiresIn }: FilterChange, now: number): Date | null =>
  expiresIn === undefined
    ? before.expiresAt
    : expiresIn === null
    ? null
    : new Date(now + Math.min(Math.max(expiresIn, 0), filterSecondsMax) * 1_000)

/** Applies keyword changes in order; fails for an unknown id (S-083). */
const keywordsOf = Effect.fnUntraced(
  function*(before: ReadonlyArray<KeywordDraft>, changes: ReadonlyArray<KeywordChange>): Effect.fn.Return<
    ReadonlyArray<KeywordDraft>,
    RecordNotFound
  > {
    const keywords = new Map(before.map((keyword) => [keyword.id, keyword]))
    const added: Array<KeywordDraft> = []
    for (const { id, keyword, remove, wholeWord } of changes) {
      const known = id === undefined ? undefined : keywords.get(id)
      if (id === undefined) {
        // Forms send this for an empty line.
        const empty = remove === true || ((keyword ?? "") === "" && wholeWord === undefined)
        if (!empty) added.push({ id: null, keyword: keyword ?? "", wholeWord: wholeWord ?? true })
      } else if (known === undefined) return yield* new RecordNotFound()
      else if (remove === true) keywords.delete(id)
      else keywords.set(id, { id, keyword: keyword ?? known.keyword, wholeWord: wholeWord ?? known.wholeWord })
    }
    return [...keywords.values(), ...added]
  }
)

/** Fails if an account would exceed its limits. */
const withinLimits = (keywords: ReadonlyArray<KeywordDraft>, others: ReadonlyArray<Filter>) => {
  const all = [...others.flatMap((filter) => filter.keywords), ...keywords]
  const characters = all.reduce((sum, { keyword, wholeWord }) => sum + prepared(keyword, wholeWord).length, 0)
  return others.length >= filtersMax
    ? validationFailed(`Filters are too many (maximum is ${filtersMax})`)
    : all.length > filterKeywordsMax || characters > filterCharactersMax
    ? validationFailed(`Keywords are too many (maximum is ${filterKeywordsMax})`)
    : Effect.void
}
