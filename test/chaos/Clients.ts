import { Agent } from "node:http"
import { type Account } from "../cluster/Nodes.ts"
import { Dice } from "../simulation/Seeded.ts"
import type { Entry, Kind, Ledger } from "./Ledger.ts"
import type { Place } from "./Machines.ts"
import { send } from "./Requests.ts"

/** Delay before a client's retry, in milliseconds; it doubles up to `max`. */
const pauseMillis = { first: 500, max: 4_000 }
/** Time for which clients retry a command after the last fault, in milliseconds. */
export const persistMillis = 90_000
/** Number of newest posts that commands refer to. */
const recentMax = 200

interface Post {
  readonly id: string
  readonly by: string
}

interface Wanted {
  readonly kind: Kind
  readonly about: string
  readonly method: string
  readonly path: string
  readonly form?: Record<string, string>
  readonly text?: string
}

const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/**
 * Clients of all accounts. Each command has its own key, and is sent to the nodes in turn, as by a plain load balancer,
 * until one responds. Of two commands on one target, the second waits for the response to the first.
 */
export class Clients {
  private readonly dice: Dice
  /** The newest posts that are not deleted. */
  private readonly posts: Array<Post> = []
  private readonly deleted = new Set<string>()
  /** Current effects by account and target. */
  private readonly standing = new Map<bigint, Map<string, Wanted>>()
  private readonly busy = new Set<string>()
  private readonly underWay = new Set<Promise<void>>()
  private turn = 0
  private sent = 0
  private lastAt = Infinity
  private readonly ledger: Ledger
  private readonly places: ReadonlyArray<Place>
  private readonly people: ReadonlyArray<Account>
  private readonly agents: ReadonlyArray<Agent>

  constructor(seed: number, ledger: Ledger, places: ReadonlyArray<Place>, people: ReadonlyArray<Account>) {
    this.dice = new Dice(seed, "clients")
    this.ledger = ledger
    this.places = places
    this.people = people
    this.agents = places.map(() => new Agent({ keepAlive: true }))
  }

  /** Number of commands without a response. */
  get waiting() {
    return this.underWay.size
  }

  /** Lets every account follow the next `each` accounts. */
  async befriend(each: number) {
    for (const [n, by] of this.people.entries()) {
      const targets = Array.from({ length: each }, (_, k) => this.people[(n + k + 1) % this.people.length]!)
      await Promise.all(targets.map((target) => this.tell(by, follow(target))))
    }
  }

  /** Sends `rate` commands per second, and reads a home after every eighth, until `stop`. */
  async run(rate: number) {
    const began = this.ledger.now
    for (let n = 0; this.lastAt === Infinity; n++) {
      const late = began + n * 1000 / rate - this.ledger.now
      if (late > 0) await wait(late)
      this.begin(() => this.command())
      if (n % 8 === 0) this.begin(() => this.home())
    }
    await Promise.all(this.underWay)
  }

  /** Stops new commands; retries continue. */
  stop() {
    this.lastAt = this.ledger.now
  }

  private begin(work: () => Promise<void>) {
    const running = work().finally(() => this.underWay.delete(running))
    this.underWay.add(running)
  }

  private async command() {
    const by = this.dice.pick(this.people)
    const wanted = this.draw(by)
    const register = registerOf(by.id, wanted)
    if (this.busy.has(register)) return
    this.busy.add(register)
    try {
      await this.tell(by, wanted)
    } finally {
      this.busy.delete(register)
    }
  }

  private draw(by: Account): Wanted {
    const { dice, people, posts } = this
    const post = posts.length === 0 ? undefined : dice.pick(posts)
    const mine = posts.filter((one) => one.by === String(by.id))
    const other = dice.pick(people.filter((one) => one !== by))
    const text = `chaos ${++this.sent}.`
    const mention = dice.chance(0.25) ? ` @${other.username}` : ""
    const publish: Wanted = {
      kind: "post",
      about: text,
      method: "POST",
      path: "/api/v1/statuses",
      form: { status: text + mention }
    }
    const undoable = [...this.standing.get(by.id)?.values() ?? []].filter(({ about }) => !this.deleted.has(about))
    const undone = undoable.length === 0 ? undefined : dice.pick(undoable)
    const on = (kind: Kind, { id }: Post): Wanted => ({
      kind,
      about: id,
      method: "POST",
      path: `/api/v1/statuses/${id}/${kind}`
    })
    const own = mine.length === 0 ? undefined : dice.pick(mine)
    return dice.weighted<Wanted>([
      [30, publish],
      ...(post === undefined ? [] : [
        [14, on("favourite", post)],
        [7, on("reblog", post)],
        [4, on("bookmark", post)]
      ] as const),
      ...(undone === undefined ? [] : [[16, opposite(undone)]] as const),
      ...(own === undefined ? [] : [
        [8, { ...on("edit", own), method: "PUT", path: `/api/v1/statuses/${own.id}`, form: { status: text }, text }],
        [4, { ...on("delete", own), method: "DELETE", path: `/api/v1/statuses/${own.id}` }]
      ] as const),
      [4, follow(other)]
    ])
  }

  /** Retries until a node responds. */
  private async tell(by: Account, wanted: Wanted) {
    const { ledger } = this
    const entry: Entry = {
      kind: wanted.kind,
      by: String(by.id),
      about: wanted.about,
      text: wanted.text,
      began: ledger.now,
      attempts: [],
      outcome: "unknown",
      id: undefined
    }
    ledger.entries.push(entry)
    const key = `${wanted.kind}-${ledger.entries.length}`
    while (entry.outcome === "unknown" && ledger.now < this.lastAt + persistMillis) {
      const { status, text } = await this.ask(by, wanted, entry.attempts, key)
      if (status >= 200 && status < 300) {
        entry.outcome = "done"
        if (wanted.kind === "post") entry.id = String(JSON.parse(text).id)
      } else if (status >= 400 && status < 500 && status !== 429) {
        // The effect of an earlier attempt is gone, or never happened: the outcome is unknown.
        if (entry.attempts.length === 1) entry.outcome = "refused"
        break
      } else await wait(Math.min(pauseMillis.first * 2 ** (entry.attempts.length - 1), pauseMillis.max))
    }
    if (entry.outcome === "done") this.remember(by, wanted, entry.id)
  }

  private remember(by: Account, wanted: Wanted, id: string | undefined) {
    const { deleted, posts } = this
    const standing = this.standing.get(by.id) ?? new Map<string, Wanted>()
    this.standing.set(by.id, standing)
    const register = registerOf(by.id, wanted)
    if (wanted.kind === "post" && id !== undefined) {
      posts.push({ id, by: String(by.id) })
      if (posts.length > recentMax) posts.shift()
    } else if (wanted.kind === "delete") {
      deleted.add(wanted.about)
      const at = posts.findIndex((post) => post.id === wanted.about)
      if (at >= 0) posts.splice(at, 1)
    } else if (wanted.kind in opposites) standing.set(register, wanted)
    else standing.delete(register)
  }

  private async home() {
    const by = this.dice.pick(this.people)
    await this.ask(by, { kind: "home", method: "GET", path: "/api/v1/timelines/home" }, this.ledger.readings)
  }

  private async ask(
    by: Account,
    { form, kind, method, path }: Pick<Wanted, "method" | "path" | "form"> & { readonly kind: Kind | "home" },
    attempts: Entry["attempts"],
    key?: string
  ) {
    const turn = this.turn++ % this.places.length
    const place = this.places[turn]!
    const began = this.ledger.now
    const body = form === undefined ? undefined : new URLSearchParams(form).toString()
    const headers = {
      authorization: `Bearer ${by.token}`,
      ...(key !== undefined && { "idempotency-key": key }),
      ...(body !== undefined && {
        "content-type": "application/x-www-form-urlencoded",
        "content-length": String(Buffer.byteLength(body))
      })
    }
    const response = await send(this.agents[turn]!, place.baseUrl + path, method, headers, body, kind === "post")
    attempts.push({ began, ended: this.ledger.now, status: response.status, place: place.name })
    return response
  }
}

const follow = ({ id }: Account): Wanted => ({
  kind: "follow",
  about: String(id),
  method: "POST",
  path: `/api/v1/accounts/${id}/follow`
})

const opposites: Partial<Record<Kind, Kind>> = {
  favourite: "unfavourite",
  reblog: "unreblog",
  bookmark: "unbookmark",
  follow: "unfollow"
}

const opposite = (done: Wanted): Wanted => {
  const kind = opposites[done.kind] ?? done.kind
  return { ...done, kind, path: done.path.replace(new RegExp(`/${done.kind}$`), `/${kind}`) }
}

/** Returns the key under which commands are serialised: an account's favourite of a post, the text of a post. */
const registerOf = (by: bigint, { about, kind }: Wanted) =>
  kind === "edit" || kind === "delete" ? about : `${by} ${kind.replace(/^un/, "")} ${about}`
