import { importsOf, type Source } from "./source.ts"

/**
 * Areas, one a row: folders and files (without `.ts`), and the areas outside it that it may import. A row may name only
 * rows above it, so that areas form no cycle.
 */
export type Rooms = ReadonlyArray<readonly [room: string, mayImport: string]>

const words = (list: string) => list.split(" ").filter((word) => word !== "")

/** Finds imports below a folder that its area table does not allow, and errors in the table. */
export const trespasses = (sources: ReadonlyArray<Source>, folder: string, rooms: Rooms): ReadonlyArray<string> => {
  const rowOf = new Map(rooms.flatMap(([room], row) => words(room).map((place) => [place, row] as const)))
  const placeOf = (path: string) =>
    path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split("/")[0]!.replace(/\.ts$/, "") : undefined
  const inside = sources.filter(({ path }) => placeOf(path) !== undefined)
  const places = new Set(inside.map(({ path }) => placeOf(path)!))
  return [
    ...[...places].filter((place) => !rowOf.has(place)).map((place) => `${folder}/${place} has no room`),
    ...[...rowOf.keys()].filter((place) => !places.has(place)).map((place) => `${folder}/${place} is not there`),
    ...rooms.flatMap(([room, mayImport], row) =>
      words(mayImport).filter((place) => !((rowOf.get(place) ?? row) < row)).map((place) =>
        `${room}: ${place} does not stand above it`
      )
    ),
    ...inside.flatMap((file) => {
      const row = rowOf.get(placeOf(file.path)!)
      if (row === undefined) return []
      return importsOf(file).filter((path) => {
        const place = placeOf(path)
        return place !== undefined && rowOf.get(place) !== row && !words(rooms[row]![1]).includes(place)
      }).map((path) => `${file.path} -> ${path}`)
    })
  ]
}

/** Areas of HTTP: wire JSON, request guards, page parts, and handlers, up to the whole. */
export const http: Rooms = [
  ["TimeoutSet Paging InFlight", ""],
  ["wire", ""],
  ["languages", ""],
  ["guard", "languages wire"],
  ["Group", "guard"],
  ["html", "guard languages"],
  ["Edge", "guard html languages"],
  ["docs", "guard html"],
  ["body", "TimeoutSet InFlight guard languages"],
  ["Deadlines", "TimeoutSet InFlight body guard"],
  ["files", "guard"],
  ["streaming", "Deadlines InFlight guard wire"],
  ["render", "Paging guard html languages streaming wire"],
  ["activitypub", "body guard render"],
  ["wellknown", "guard html wire"],
  ["oauth", "Group guard html render wire"],
  ["v1", "Group Paging guard oauth render wire"],
  ["admin", "Paging guard html render wire"],
  ["pages", "activitypub docs guard html oauth render wire"],
  ["Api Routes", "activitypub admin files guard oauth pages render streaming v1 wellknown"]
]

/** Areas of federation: keys and documents, outgoing requests, inbound activities, and deliveries. */
export const federation: Rooms = [
  ["DomainNames FailedLookups HostMeta NewHosts MovedAccounts SingleFlight Strangers", ""],
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
    "DomainNames FailedLookups KeyDocuments ObjectFetcher RemoteActors SingleFlight Strangers WebFingers documents domains signatures"
  ],
  ["fetching", "NewHosts ObjectFetcher RemoteAccounts RemoteActors SingleFlight documents inbox"],
  ["RemoteLookup", "DomainNames ObjectFetcher RemoteAccounts RemoteActors SingleFlight documents fetching"]
]
