import { asList, type Foreign } from "./ForeignValues.ts"

/** Properties of a type of activity that are known before its handler runs; an absent one is false. */
interface ActivityTraits {
  /** Reacts to its object: dropped where a block separates the sender from the object's author. */
  readonly reacts?: true
  /** Accepted from suspended senders: takes something back, or says that the suspension is over (federation.md section 7). */
  readonly whileSuspended?: true
  /** Accepted from anybody who hands it on, as a reason to ask the origin of its object (row 6). */
  readonly forwarded?: true
  /** Brings a new post in its object. */
  readonly creates?: true
  /** Common and cheap: shares a transaction with activities of other senders. */
  readonly common?: true
  /** Can be undone, by its id or embedded. */
  readonly undoable?: true
  /** Is a post of the sender, under the activity's id. */
  readonly boosts?: true
  /** Asks for consent: an Undo withdraws the request. */
  readonly asks?: true
  /**
   * Servers that send activities of this type again under an earlier id. Repeating one has no further effect, so a
   * repeated attempt costs nothing. The object's own id tells new Creates, Deletes, Flags and Moves from old ones.
   */
  readonly reused?: string
}

/** THE table of inbound activity types. `InboxActivities` has a handler for each, or does not compile. */
const traits = {
  Accept: { undoable: true, reused: "Mastodon (`#accepts/follows/` for all follows of an account), Hollo, snac" },
  Add: { reused: "Mastodon, which gives pins no id at all" },
  Announce: {
    reacts: true,
    common: true,
    undoable: true,
    boosts: true,
    reused: "Hollo and snac boost a post under the same id each time"
  },
  AnnounceRequest: { asks: true },
  Block: { undoable: true, reused: "Hollo and snac" },
  Create: { creates: true, forwarded: true, common: true },
  Delete: { whileSuspended: true, forwarded: true },
  EmojiReact: {
    reacts: true,
    undoable: true,
    reused: "servers whose ids are made of the post and the emoji, or that give none"
  },
  FeatureRequest: {},
  Flag: {},
  Follow: { undoable: true, reused: "Misskey follows somebody under the same id however often; snac" },
  Like: { reacts: true, common: true, undoable: true, reused: "Hollo and snac" },
  LikeRequest: { asks: true },
  Move: {},
  QuoteRequest: { asks: true },
  Reject: { whileSuspended: true, reused: "Mastodon (`#rejects/follows/` for all follows of an account)" },
  Remove: { reused: "Mastodon, as Add" },
  ReplyRequest: { asks: true },
  Undo: { whileSuspended: true, reused: "whoever reuses the id of what is undone" },
  Update: { whileSuspended: true, forwarded: true }
} as const satisfies Readonly<Record<string, ActivityTraits>>

/** Type of an activity that has a handler. */
export type ActivityType = keyof typeof traits

/** Types that have a trait. */
export type ActivityTypeWith<Trait extends keyof ActivityTraits> = {
  readonly [Type in ActivityType]: (typeof traits)[Type] extends { readonly [_ in Trait]: unknown } ? Type : never
}[ActivityType]

const isActivityType = (type: unknown): type is ActivityType => typeof type === "string" && Object.hasOwn(traits, type)

/** Every type that has a handler. */
export const activityTypes: ReadonlyArray<ActivityType> = Object.keys(traits).filter(isActivityType)

/** Returns true for types with the trait. */
export const hasTrait = <Trait extends keyof ActivityTraits>(
  type: ActivityType,
  trait: Trait
): type is ActivityTypeWith<Trait> => Object.hasOwn(traits[type], trait)

/** The types that have a trait. */
export const typesWith = <Trait extends keyof ActivityTraits>(trait: Trait): ReadonlyArray<ActivityTypeWith<Trait>> =>
  activityTypes.flatMap((type) => hasTrait(type, trait) ? [type] : [])

/** Type by which an activity is judged and handled: the first one of its types that has a handler. */
export const activityTypeOf = (activity: Foreign): ActivityType | undefined =>
  asList(activity["type"]).find(isActivityType)

/** Returns true for activities whose type has the trait. */
export const isOfTrait = (activity: Foreign, trait: keyof ActivityTraits): boolean => {
  const type = activityTypeOf(activity)
  return type !== undefined && hasTrait(type, trait)
}
