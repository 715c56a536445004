import { type Account } from "../cluster/Nodes.ts"
import { Dice } from "../simulation/Seeded.ts"
import type { Entry, Kind, Ledger } from "./Ledger.ts"
import type { Place } from "./Machines.ts"

/** How long a client waits for an answer, and before it asks again: longer each time, in milliseconds. */
const patienceMillis = 10_000
const pauseMillis = { first: 500, max: 4_000 }
/** How long a client goes on with one command after the last fault, in milliseconds. */
export const persistMillis = 90_000
/** Posts that commands are about: the newest. */
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
 * Clients of all accounts. Each command has a key of its own and goes to the nodes by turns, as a load balancer that knows
 * nothing would send it, until one answers; of two commands about one thing the second waits for the first one's answer.
 */
export class Clients {
  private readonly dice: Dice
  private readonly posts: Array<Post> = []
  private readonly deleted = new Set<string>()
  /** What somebody did to a thing and has not undone. */
  private readonly standing = new Map<string, Wanted>()
  private readonly busy = new Set<string>()
  private readonly underWay = new Set<Promise<void>>()
  private turn = 0
  private sent = 0
  private lastAt = Infinity
  private readonly ledger: Ledger
  private readonly places: ReadonlyArray<Place>
  private readonly people: ReadonlyArray<Account>

  constructor(seed: number, ledger: Ledger, places: ReadonlyArray<Place>, people: ReadonlyArray<Account>) {
    this.dice = new Dice(seed, "clients")
    this.ledger = ledger
    this.places = places
    this.people = people
  }

  /** Commands that wait for an answer. */
  get waiting() {
    return this.underWay.size
  }

  /** Everybody follows the next `each` people. */
  async befriend(each: number) {
    for (const [n, by] of this.people.entries()) {
      const targets = Array.from({ length: each }, (_, k) => this.people[(n + k + 1) % this.people.length]!)
      await Promise.all(targets.map((target) => this.tell(by, follow(target))))
    }
  }

  /** Sends so many commands a second, whatever becomes of them, and a home every eighth time, for `millis`. */
  async run(rate: number, millis: number) {
    const began = this.ledger.now
    for (let n = 0; this.ledger.now - began < millis; n++) {
      const late = began + n * 1000 / rate - this.ledger.now
      if (late > 0) await wait(late)
      this.begin(() => this.command())
      if (n % 8 === 0) this.begin(() => this.home())
    }
    this.lastAt = this.ledger.now
    await Promise.all(this.underWay)
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
    const { dice, people } = this
    const recent = this.posts.slice(-recentMax).filter(({ id }) => !this.deleted.has(id))
    const post = recent.length === 0 ? undefined : dice.pick(recent)
    const mine = recent.filter((one) => one.by === String(by.id))
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
    const undoable = [...this.standing.values()].filter((done) =>
      this.standing.get(registerOf(by.id, done)) === done && !this.deleted.has(done.about)
    )
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

  /** Asks until somebody answers. */
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
      const { body, status } = await this.ask(by, wanted.method, wanted.path, entry.attempts, wanted.form, key)
      if (status >= 200 && status < 300) {
        entry.outcome = "done"
        if (typeof body === "object" && body !== null && "id" in body) entry.id = String(body.id)
      } else if (status >= 400 && status < 500 && status !== 429) {
        // What an earlier attempt did is not there any more, or was never done; who knows.
        if (entry.attempts.length === 1) entry.outcome = "refused"
        break
      } else await wait(Math.min(pauseMillis.first * 2 ** (entry.attempts.length - 1), pauseMillis.max))
    }
    if (entry.outcome !== "done") return
    const register = registerOf(by.id, wanted)
    if (wanted.kind === "post" && entry.id !== undefined) this.posts.push({ id: entry.id, by: String(by.id) })
    else if (wanted.kind === "delete") this.deleted.add(wanted.about)
    else if (wanted.kind in opposites) this.standing.set(register, wanted)
    else this.standing.delete(register)
  }

  private async home() {
    const by = this.dice.pick(this.people)
    const attempts: Entry["attempts"] = []
    await this.ask(by, "GET", "/api/v1/timelines/home", attempts)
    this.ledger.readings.push(...attempts)
  }

  /** One request; status 0 is a connection that broke, or no answer in time. */
  private async ask(
    by: Account,
    method: string,
    path: string,
    attempts: Entry["attempts"],
    form?: Record<string, string>,
    key?: string
  ) {
    const place = this.places[this.turn++ % this.places.length]!
    const began = this.ledger.now
    let [status, body]: [number, unknown] = [0, undefined]
    try {
      const response = await fetch(place.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${by.token}`, ...(key === undefined ? {} : { "idempotency-key": key }) },
        signal: AbortSignal.timeout(patienceMillis),
        ...(form === undefined ? {} : { body: new URLSearchParams(form) })
      })
      body = await response.json()
      status = response.status
    } catch {
      status = 0
    }
    attempts.push({ began, ended: this.ledger.now, status, place: place.name })
    return { status, body }
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

/** What only one command at a time is about: the account's favourite of a post, the text of a post. */
const registerOf = (by: bigint, { about, kind }: Wanted) =>
  kind === "edit" || kind === "delete" ? about : `${by} ${kind.replace(/^un/, "")} ${about}`
