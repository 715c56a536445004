import { importsOf, type Source } from "./source.ts"

/**
 * Areas, one per row: folders and files (without `.ts`), and the outside areas that they may import. A row may name
 * only rows above it, so that areas form no cycle.
 */
export type Areas = ReadonlyArray<readonly [area: string, mayImport: string]>

const words = (list: string) => list.split(" ").filter((word) => word !== "")

/** Finds imports below a folder that its area table does not allow, and errors in the table. */
export const forbiddenImports = (
  sources: ReadonlyArray<Source>,
  folder: string,
  areas: Areas
): ReadonlyArray<string> => {
  const rowOf = new Map(areas.flatMap(([area], row) => words(area).map((place) => [place, row] as const)))
  const placeOf = (path: string) =>
    path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split("/")[0]!.replace(/\.ts$/, "") : undefined
  const inside = sources.filter(({ path }) => placeOf(path) !== undefined)
  const places = new Set(inside.map(({ path }) => placeOf(path)!))
  return [
    ...[...places].filter((place) => !rowOf.has(place)).map((place) => `${folder}/${place} has no area`),
    ...[...rowOf.keys()].filter((place) => !places.has(place)).map((place) => `${folder}/${place} does not exist`),
    ...areas.flatMap(([area, mayImport], row) =>
      words(mayImport).filter((place) => !((rowOf.get(place) ?? row) < row)).map((place) =>
        `${area}: ${place} is not in a row above`
      )
    ),
    ...inside.flatMap((file) => {
      const row = rowOf.get(placeOf(file.path)!)
      if (row === undefined) return []
      return importsOf(file).filter((path) => {
        const place = placeOf(path)
        return place !== undefined && rowOf.get(place) !== row && !words(areas[row]![1]).includes(place)
      }).map((path) => `${file.path} -> ${path}`)
    })
  ]
}

/** Areas of HTTP: wire JSON, request guards, page parts, handlers, and modules that combine all of them. */
export const http: Areas = [
  ["wire", ""],
  ["languages", ""],
  ["guard", "languages wire"],
  ["html", "guard languages"],
  ["Edge", "guard html languages"],
  ["docs", "guard html"],
  ["body", "guard languages"],
  ["deadlines", "body guard"],
  ["files", "guard"],
  ["streaming", "deadlines guard wire"],
  ["render", "guard html languages streaming wire"],
  ["activitypub", "body guard render"],
  ["wellknown", "guard html wire"],
  ["oauth", "guard html render wire"],
  ["v1", "guard oauth render wire"],
  ["staff", "guard html render wire"],
  ["pages", "activitypub docs guard html languages oauth render wire"],
  // Leaf capabilities: only Api and Routes may import them.
  ["announcements", "guard html render staff wire"],
  ["annual", "guard render v1 wire"],
  ["encryption", "guard render wire"],
  ["invites", "guard html pages render staff wire"],
  ["lists", "guard html render staff wire"],
  ["push", "guard render wire"],
  ["spam", "guard html render staff wire"],
  ["subscriptions", "guard html pages wire"],
  ["translation", "guard render wire"],
  ["trends", "guard html render staff wire"],
  ["web", "activitypub files guard html oauth pages render streaming v1 wire"],
  ["webhooks", "guard html render staff wire"],
  [
    "Api Routes",
    "activitypub announcements annual encryption files guard html invites lists oauth pages push render spam staff streaming subscriptions translation trends v1 web webhooks wellknown"
  ]
]

/** Areas of federation: keys and documents, outgoing requests, inbound activities, and deliveries. */
export const federation: Areas = [
  ["DomainNames FailedLookups HostMeta NewHosts MovedAccounts SingleFlight InboxSlots", ""],
  ["LocalIds", ""],
  ["signatures", ""],
  ["purge", ""],
  ["HostDocuments SigningKeys", "LocalIds SingleFlight signatures"],
  ["documents", "DomainNames LocalIds"],
  ["domains", "DomainNames"],
  ["inbox", "documents"],
  ["policies", "documents domains inbox"],
  ["CollectionObjects FollowerDigests LocalActors Objects Replies", "LocalIds SigningKeys documents"],
  ["outbox", "CollectionObjects LocalActors LocalIds Objects documents inbox signatures"],
  ["relays", "LocalIds documents outbox"],
  ["KeyDocuments ObjectFetcher WebFingers", "DomainNames HostDocuments HostMeta SigningKeys documents signatures"],
  ["RemoteAccounts", "DomainNames MovedAccounts documents domains inbox purge"],
  [
    "Mentions RemoteActors",
    "DomainNames KeyDocuments ObjectFetcher NewHosts RemoteAccounts SingleFlight WebFingers documents purge signatures"
  ],
  [
    "ActorLookups ProvenAuthors SenderKeys Senders",
    "DomainNames FailedLookups KeyDocuments ObjectFetcher RemoteActors SingleFlight InboxSlots WebFingers documents domains signatures"
  ],
  ["fetching", "NewHosts ObjectFetcher RemoteAccounts RemoteActors SingleFlight documents inbox"],
  ["RemoteLookup", "DomainNames ObjectFetcher RemoteAccounts RemoteActors SingleFlight documents fetching"]
]

/** Areas of the account's actor: shared code, work on intents, command handlers, and inbound activities. */
export const account: Areas = [
  ["core", ""],
  ["fanout", "core"],
  ["verbs", "core fanout"],
  ["inbox", "core fanout verbs"],
  ["AllVerbs", "core inbox verbs"],
  ["AccountEntity", "AllVerbs core fanout inbox"]
]

/** Services of leaf capabilities: actors, HTTP and layers import them, services of the core do not. */
export const leaves: ReadonlyArray<string> = words(
  "announcements annual encryption invites lists mastodon previews push spam subscriptions transfers translation trends webhooks"
)

/** Leaf that copies a whole server, and therefore writes the rows of other leaves. */
export const wholeServer = "mastodon"
