import { asForeign, type Foreign, idOf, idsOf, single, typeOf } from "../../federation/documents/ForeignValues.ts"
import { momentMillisMin, momentOf } from "../../runtime/Moments.ts"
import type { StagedRow } from "../archives/StagedRows.ts"
import { nameCharactersMax, type NewLine } from "../ImportLine.ts"

/** Maximum items of a page that are read. */
const pageItemsMax = 5_000
/** Activities that are staged as they are; anything else with an id is the object of a Create. */
const activities = ["Announce", "Create"]

/** Returns the items of a collection or page, of either kind, in its own order. */
export const itemsIn = (document: Foreign): ReadonlyArray<unknown> => {
  const items = document["orderedItems"] ?? document["items"]
  return Array.isArray(items) ? items.slice(0, pageItemsMax) : items === undefined || items === null ? [] : [items]
}

/** Returns the URL of the page after a page, or of the first page of a collection without items. */
export const nextPage = (document: Foreign): string | undefined => {
  const next = idOf(document["next"])
  return next ?? (itemsIn(document).length === 0 ? idOf(document["first"]) : undefined)
}

/** Returns true for a text that is a URL of the same origin. */
const isAt = (origin: string, id: string | undefined) => id !== undefined && URL.parse(id)?.origin === origin

/**
 * Returns items as activities for `archive_items`, at the places that follow `before` earlier ones. A post that is not at the origin of its actor gets another actor, so
 * that it counts as foreign: nobody else may say what was written there.
 */
export const activityRows = (
  items: ReadonlyArray<unknown>,
  actor: string,
  before: number
): ReadonlyArray<StagedRow> => {
  const { origin } = new URL(actor)
  const read = items.flatMap((given) => {
    const item = asForeign(given)
    if (item === undefined) return []
    const isActivity = typeOf(item, ...activities) !== undefined
    const object = isActivity ? item : undefined
    const post = object === undefined ? item : asForeign(single(object["object"]))
    const id = idOf(typeOf(item, "Announce") === undefined ? post?.["id"] : item["id"])
    const activity = isActivity
      ? item
      : {
        type: "Create",
        id: `${id}#create`,
        actor: idsOf(item["attributedTo"]).includes(actor) ? actor : "",
        object: item
      }
    const own = isAt(origin, id) ? activity : { ...activity, actor: "" }
    const millis = momentOf(item["published"]) ?? momentOf(post?.["published"])
    return [{ publishedAt: new Date(millis ?? momentMillisMin), activity: JSON.stringify(own) }]
  })
  return read.map(({ activity, publishedAt }, at) => ({ publishedAt, place: before + at, activity }))
}

/** Returns ids of actors as lines of an import; others are left out. */
export const linesOf = (items: ReadonlyArray<unknown>): ReadonlyArray<NewLine> =>
  items.flatMap((item) => {
    const url = URL.parse(idOf(item) ?? "")
    return url === null || !/^https?:$/.test(url.protocol) || url.href.length > nameCharactersMax
      ? []
      : [{ name: url.href, host: url.host, details: {} }]
  })
