import { Dice } from "../simulation/Seeded.ts"
import { type Language, languages, links } from "./Texts.ts"

export interface PlannedPerson {
  readonly username: string
  readonly displayName: string
  readonly note: string
  readonly language: string
}

export interface PlannedPost {
  /** Index of its author. */
  readonly author: number
  readonly text: string
  readonly language: string
  readonly spoiler: string | undefined
  readonly visibility: "public" | "unlisted" | "private" | "direct"
  /** Index of the post that it replies to, which comes before it. */
  readonly parent: number | undefined
}

/** Everything that a demonstration creates on a server; the same seed gives the same plan. */
export interface Plan {
  readonly people: ReadonlyArray<PlannedPerson>
  /** Follows, by index. */
  readonly follows: ReadonlyArray<readonly [follower: number, followed: number]>
  readonly posts: ReadonlyArray<PlannedPost>
}

/** Maximum follows per account. */
const followsMax = 30

export const make = (seed: number, accounts: number, posts: number): Plan => {
  const dice = new Dice(seed, "demo")
  const speakers = Array.from({ length: accounts }, (_, index) => languages[index % languages.length]!)
  const people = speakers.map((language, index): PlannedPerson => ({
    username: `${language.code}_person_${index + 1}`,
    displayName: dice.pick(language.names),
    note: written(dice, dice.pick(language.thoughts), language),
    language: language.code
  }))
  // A few accounts are known to everybody, most to some.
  const somebody = () => Math.floor(accounts * dice.next() ** 2)
  const follows = new Map<string, readonly [number, number]>()
  for (let follower = 0; follower < accounts; follower++) {
    const wanted = dice.between(1, Math.min(followsMax, accounts))
    for (let tries = 0; tries < wanted; tries++) {
      const followed = somebody()
      if (followed !== follower) follows.set(`${follower}>${followed}`, [follower, followed])
    }
  }
  const planned: Array<PlannedPost> = []
  for (let index = 0; index < posts; index++) {
    const author = somebody()
    const language = speakers[author]!
    const parent = planned.length > 0 && dice.chance(0.35) ? recent(dice, planned) : undefined
    const direct = accounts > 1 && dice.chance(0.02)
    const to = parent === undefined ? undefined : planned[parent]!.author
    const mentioned = new Set([
      ...(to === undefined || to === author ? [] : [to]),
      ...(direct || dice.chance(0.15) ? [(author + 1 + dice.between(0, Math.max(1, accounts - 1))) % accounts] : [])
    ])
    const words = written(dice, dice.pick(parent === undefined ? language.thoughts : language.replies), language)
    planned.push({
      author,
      text: [...Array.from(mentioned, (person) => `@${people[person]!.username}`), words].join(" "),
      language: language.code,
      spoiler: dice.chance(0.05) ? language.tags[0] : undefined,
      visibility: direct ? "direct" : dice.weighted([[85, "public"], [10, "unlisted"], [5, "private"]]),
      parent
    })
  }
  return { people, follows: [...follows.values()], posts: planned }
}

/** Picks a recent public post, which the author of a reply can see. */
const recent = (dice: Dice, posts: ReadonlyArray<PlannedPost>): number | undefined => {
  const index = Math.max(0, posts.length - 1 - dice.between(0, 40))
  const visibility = posts[index]?.visibility
  return visibility === "public" || visibility === "unlisted" ? index : undefined
}

const written = (dice: Dice, thought: string, language: Language): string =>
  thought.replace("{tag}", () => `#${dice.pick(language.tags)}`).replace("{link}", () => dice.pick(links))
