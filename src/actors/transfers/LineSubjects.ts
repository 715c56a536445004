import { Clock, Effect } from "effect"
import { mayPass, RemotePosts } from "../../services/federation/fetching/RemotePosts.ts"
import { KnownUris } from "../../services/federation/inbox/KnownUris.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Unreachable } from "../../services/outbound/OutboundError.ts"
import { type FailureReason, handleOf } from "../../services/transfers/ImportLine.ts"
import { type ImportLine, ImportLines } from "../../services/transfers/ImportLines.ts"
import * as LookupPaces from "../../services/transfers/LookupPaces.ts"
import { type ListKind, namesPosts } from "../../services/transfers/Transfer.ts"

/** Hosts that are asked at once; requests to one host run one after the other. */
const hostsAtOnceMax = 8
/** Timeout of one look-up, and time after which no further one begins, in seconds. */
const lookUpSecondsMax = 15
const lookUpsSecondsMax = 40

/** Results of looking up the subjects of lines. Lines in none of these must still be looked up; their host is paced or slow. */
interface Looked {
  /** Accounts or statuses by place. */
  readonly subjects: ReadonlyMap<number, bigint>
  readonly failures: ReadonlyArray<{ readonly place: number; readonly reason: FailureReason }>
  /** Hosts that did not respond. */
  readonly hosts: ReadonlyArray<string>
  /** Hosts that were not asked for all of their lines in time. */
  readonly slowHosts: ReadonlyArray<string>
  /** Hosts that responded, and then responded no more, as to too many requests. */
  readonly busyHosts: ReadonlyArray<string>
}

/** Kinds whose lines name something by itself. */
const isNamed = (kind: ListKind): boolean => kind === "domain_blocks" || kind === "filters"

/** Returns a function that looks up the accounts or posts that lines name, here and on other servers. */
export const make = Effect.gen(function*() {
  const { federated } = yield* ServerConfig
  const actors = yield* RemoteActors
  const knownUris = yield* KnownUris
  const lines = yield* ImportLines
  const posts = yield* RemotePosts
  const take = yield* LookupPaces.make

  /** Finds the subject at its server. */
  const fetched = (kind: ListKind, name: string) => {
    if (namesPosts(kind)) return Effect.map(posts.find(name), (id): bigint => id)
    const handle = handleOf(name)
    const found = handle.includes("://") ? actors.find(handle) : actors.findByHandle(handle)
    return Effect.map(found, ({ id }): bigint => id)
  }

  /** Finds subjects that this server knows, by place. */
  const known = Effect.fnUntraced(function*(kind: ListKind, given: ReadonlyArray<ImportLine>) {
    if (namesPosts(kind)) {
      const found = new Map<number, bigint>()
      for (const { name, place } of given) {
        const id = yield* knownUris.status(name)
        if (id !== undefined) found.set(place, id)
      }
      return found
    }
    const found = new Map(yield* lines.knownAccounts(given))
    const urls = new Map(
      given.flatMap(({ name, place }) => name.includes("://") ? [[place, handleOf(name)] as const] : [])
    )
    const ids = yield* knownUris.accounts([...new Set(urls.values())])
    for (const [place, url] of urls) {
      const id = ids.get(url)
      if (id !== undefined) found.set(place, id)
    }
    return found
  })

  return Effect.fnUntraced(function*(kind: ListKind, given: ReadonlyArray<ImportLine>) {
    const unknown = given.filter(({ subjectId }) => subjectId === undefined)
    if (isNamed(kind) || unknown.length === 0) {
      return { subjects: new Map(), failures: [], hosts: [], slowHosts: [], busyHosts: [] } satisfies Looked
    }
    const subjects = new Map(yield* known(kind, unknown))
    const failures: Array<Looked["failures"][number]> = []
    const silent: Array<string> = []
    const slow: Array<string> = []
    const busy: Array<string> = []
    const byHost = new Map<string, Array<ImportLine>>()
    for (const line of unknown) {
      if (subjects.has(line.place)) continue
      if (line.host === null || !federated) failures.push({ place: line.place, reason: "not_found" })
      else byHost.set(line.host, [...byHost.get(line.host) ?? [], line])
    }
    const began = yield* Clock.currentTimeMillis
    const askHost = Effect.fnUntraced(function*([host, named]: readonly [string, ReadonlyArray<ImportLine>]) {
      let responds = false
      for (const { name, place } of named) {
        if (!(yield* take(host))) return
        if ((yield* Clock.currentTimeMillis) - began > lookUpsSecondsMax * 1_000) {
          slow.push(host)
          return
        }
        const outcome = yield* fetched(kind, name).pipe(
          Effect.timeoutOrElse({
            duration: `${lookUpSecondsMax} seconds`,
            orElse: () => new Unreachable({ url: name, reason: "timeout" })
          }),
          Effect.match({
            onFailure: (error) => mayPass(error) ? "silent" as const : "not_found" as const,
            onSuccess: (id) => id
          })
        )
        if (outcome === "silent") {
          ;(responds ? busy : silent).push(host)
          return
        }
        responds = true
        if (outcome === "not_found") failures.push({ place, reason: outcome })
        else subjects.set(place, outcome)
      }
    })
    yield* Effect.forEach([...byHost], askHost, { concurrency: hostsAtOnceMax, discard: true })
    return { subjects, failures, hosts: silent, slowHosts: slow, busyHosts: busy } satisfies Looked
  })
})
