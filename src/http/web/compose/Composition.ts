import { MediaId, parseId, StatusId } from "../../../services/database/Ids.ts"
import { mediaAttachmentsMax, pollOptionsMax } from "../../../services/instance/ContentLimits.ts"
import type { Post } from "../../../services/statuses/Post.ts"
import type { NewStatus } from "../../wire/StatusRequests.ts"
import { choiceOf, type Controlled, type PolicyChoice } from "../policies/PolicyChoices.ts"

/** Maximum posts of a thread that is written at once. */
export const threadPostsMax = 20

/** Audiences that the composer offers; "local" is public on this server only. */
export const offeredVisibilities = ["public", "unlisted", "private", "direct", "local"] as const
type Audience = typeof offeredVisibilities[number]

/** A file of a post that is being written. */
export interface ComposedFile {
  readonly id: MediaId
  readonly description: string
  /** `x,y`, each from -1 to 1; "" is the centre. */
  readonly focus: string
}

/** Choice of who may reply to a post, favourite it and boost it. */
type Control = { readonly [C in Controlled]: PolicyChoice }

/** Returns the choices for stored policy words; undefined without words, which means the member's defaults. */
export const controlOf = (words: ReadonlyArray<string> | null): Control | undefined =>
  words === null ? undefined : controlBy((interaction) => choiceOf(words, interaction))

const controlBy = (choose: (interaction: Controlled) => PolicyChoice): Control => ({
  canReply: choose("canReply"),
  canLike: choose("canLike"),
  canAnnounce: choose("canAnnounce")
})

/** Names of the form's fields for an interaction. */
export const controlFields = (interaction: Controlled) => ({ name: interaction, askName: `${interaction}_ask` })

/** Everything that a member typed into the composer, and what it refers to. */
export interface Composition {
  /** Makes commands of this form idempotent, together with its content. */
  readonly key: string
  readonly draft?: StatusId | undefined
  readonly edit?: StatusId | undefined
  readonly replyTo?: StatusId | undefined
  readonly quote?: StatusId | undefined
  /** Texts of the posts of a thread; usually one. */
  readonly texts: ReadonlyArray<string>
  /** Markup of the texts, if an app chose one; "" by default. */
  readonly contentType: string
  readonly spoiler: string
  readonly sensitive: boolean
  readonly audience: Audience
  readonly language: string
  /** Options of the poll; all empty without a poll. */
  readonly options: ReadonlyArray<string>
  /** Duration of the poll. */
  readonly seconds: number
  readonly multiple: boolean
  readonly hideTotals: boolean
  readonly files: ReadonlyArray<ComposedFile>
  readonly quotePolicy: string
  /** Permissions to reply, favourite and boost; undefined if the form has no fields for them, which keeps a draft's. */
  readonly control?: Control | undefined
  /** Local time of a scheduled post as in `datetime-local`; "" posts at once. */
  readonly at: string
  /** Time zone of `at`. */
  readonly zone: string
}

/** Duration of a poll by default, in seconds. */
const pollSeconds = 86_400

/** An empty composition. */
export const blank = (key: string): Composition => ({
  key,
  texts: [""],
  contentType: "",
  spoiler: "",
  sensitive: false,
  audience: "public",
  language: "",
  options: [],
  seconds: pollSeconds,
  multiple: false,
  hideTotals: false,
  files: [],
  quotePolicy: "",
  at: "",
  zone: ""
})

/** Browsers send line breaks as CR LF. */
const typed = (text: string | null) => (text ?? "").replaceAll("\r\n", "\n")

/** Parses the id of a status in a form or a query. */
export const statusId = (text: string | null): StatusId | undefined => {
  const id = parseId(text)
  return id === undefined ? undefined : StatusId.make(id)
}

const isAudience = (text: string): text is Audience => offeredVisibilities.some((one) => one === text)

/** Reads the fields of the composer's form. Empty posts at the end of a thread are dropped. */
export const compositionOf = (form: URLSearchParams, standard: Composition): Composition => {
  const more = form.getAll("more").slice(0, threadPostsMax - 1).map(typed)
  while (more.at(-1)?.trim() === "") more.pop()
  const audience = form.get("visibility") ?? ""
  return {
    key: (form.get("key") ?? "").slice(0, 64) || standard.key,
    draft: statusId(form.get("draft")),
    edit: statusId(form.get("edit")),
    replyTo: statusId(form.get("reply_to")),
    quote: statusId(form.get("quote")),
    texts: [typed(form.get("text")), ...more],
    contentType: form.get("content_type") ?? "",
    spoiler: typed(form.get("spoiler_text")),
    sensitive: form.get("sensitive") === "1",
    audience: isAudience(audience) ? audience : standard.audience,
    language: form.get("language") ?? standard.language,
    options: form.getAll("option").slice(0, pollOptionsMax).map(typed),
    seconds: Math.min(Number(form.get("poll_seconds") ?? "") || pollSeconds, Number.MAX_SAFE_INTEGER),
    multiple: form.get("poll_multiple") === "1",
    hideTotals: form.get("poll_hide_totals") === "1",
    files: [...new Set(form.getAll("files"))].slice(0, mediaAttachmentsMax).flatMap((text) => {
      const id = parseId(text)
      return id === undefined ? [] : [{
        id: MediaId.make(id),
        description: typed(form.get(`description_${id}`)),
        focus: form.get(`focus_${id}`) ?? ""
      }]
    }),
    quotePolicy: form.get("quote_policy") ?? standard.quotePolicy,
    control: form.has(controlFields("canReply").name)
      ? controlBy((interaction) => {
        const { askName, name } = controlFields(interaction)
        return { audience: form.get(name) ?? "", mayAsk: form.has(askName) }
      })
      : standard.control,
    at: form.get("at") ?? "",
    zone: form.get("zone") ?? standard.zone
  }
}

/** Returns the composition of a draft or a scheduled post. */
export const compositionOfPost = (
  post: Post,
  files: ReadonlyArray<ComposedFile>,
  standard: Composition
): Composition => ({
  ...standard,
  replyTo: post.inReplyToId ?? undefined,
  quote: post.quotedStatusId ?? undefined,
  texts: [post.text, ...post.continued ?? []],
  contentType: post.contentType ?? "",
  spoiler: post.spoilerText ?? "",
  sensitive: post.sensitive === true || files.length === 0 && standard.sensitive,
  audience: post.localOnly === true ? "local" : post.visibility ?? standard.audience,
  language: post.language ?? standard.language,
  options: post.poll?.options ?? [],
  seconds: post.poll?.seconds ?? standard.seconds,
  multiple: post.poll?.multiple ?? false,
  hideTotals: post.poll?.hideTotals ?? false,
  files,
  quotePolicy: post.quoteApprovalPolicy ?? standard.quotePolicy,
  control: controlOf(post.interactionPolicy)
})

/** True if nothing was typed. */
export const isEmpty = ({ files, options, spoiler, texts }: Composition): boolean =>
  files.length === 0 && [...texts, ...options, spoiler].every((text) => text.trim() === "")

const filled = (options: ReadonlyArray<string>) => options.filter((option) => option.trim() !== "")

/** Returns the request that an app would send for the first post. */
export const payloadOf = (composition: Composition): NewStatus => {
  const { audience, files, hideTotals, language, multiple, quote, quotePolicy, replyTo, seconds, sensitive } =
    composition
  const options = filled(composition.options)
  return {
    status: composition.texts[0] ?? "",
    contentType: composition.contentType,
    spoilerText: composition.spoiler,
    // Only files are sensitive; a content warning makes the whole post so.
    sensitive: sensitive && files.length > 0,
    language,
    visibility: audience,
    mediaIds: files.map(({ id }) => String(id)),
    quoteApprovalPolicy: quotePolicy,
    ...(replyTo !== undefined && { inReplyToId: String(replyTo) }),
    ...(quote !== undefined && { quotedStatusId: String(quote) }),
    ...(options.length > 0 && { poll: { options, expiresIn: seconds, multiple, hideTotals } })
  }
}

/** Returns a key of the content, which does not depend on the form's key and draft. */
export const contentKey = ({ draft: _draft, key: _key, ...content }: Composition): string =>
  JSON.stringify(content, (_, value: unknown) => typeof value === "bigint" ? String(value) : value)
