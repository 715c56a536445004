import { Cause, Effect, Layer, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { MediaId, parseId } from "../../../services/database/Ids.ts"
import { countedCharacters, statusCharactersMax } from "../../../services/html/Text.ts"
import { mediaAttachmentsMax, pollOptionsMax } from "../../../services/instance/ContentLimits.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { MediaAttachments } from "../../../services/media/MediaAttachments.ts"
import { type ClientError, RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { UnpublishedPosts } from "../../../services/statuses/UnpublishedPosts.ts"
import { failureResponse, logFailure } from "../../guard/FailureResponses.ts"
import { Limits } from "../../guard/Limits.ts"
import { flashMessages } from "../../html/FlashMessages.ts"
import { Forms, parameters } from "../../html/Forms.ts"
import { redirect, seeOther } from "../../html/HtmlPage.ts"
import { ownPath } from "../../html/OwnPaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import { MediaUploads } from "../../v1/MediaUploads.ts"
import { FileTicket } from "../../wire/MediaRequests.ts"
import type { MemberVisit, Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { ComposedPosts } from "./ComposedPosts.ts"
import { composePath } from "./ComposeForm.ts"
import { ComposePage } from "./ComposePage.ts"
import { type Composition, compositionOf, compositionOfPost, isEmpty } from "./Composition.ts"
import { Compositions } from "./Compositions.ts"
import { fileField, uploadedFile } from "./FileFields.ts"
import { keptForm, keptPath } from "./KeptForm.ts"

/** Time that an upload waits for the processing of its file, in seconds. */
const waitSecondsMax = 10

const uploadOf = Schema.decodeUnknownOption(Schema.Struct({ file: Schema.optionalKey(FileTicket) }))

const make = Effect.gen(function*() {
  const attachments = yield* MediaAttachments
  const compositions = yield* Compositions
  const config = yield* ServerConfig
  const limits = yield* Limits
  const media = yield* MediaUploads
  const page = yield* ComposePage
  const forms = yield* Forms
  const pages = yield* WebPages
  const posts = yield* ComposedPosts
  const { drafts } = yield* UnpublishedPosts
  const flash = flashMessages(config.publicUrl)

  /** The visit that a form is sent by: links of its page lead to the composer, which can be reloaded. */
  const atComposer = (visit: MemberVisit): MemberVisit => ({ ...visit, pathAndQuery: "/publish", path: "/publish" })

  const backOf = (form: URLSearchParams) => ownPath(form.get("return")) ?? "/home"

  const ticket = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = uploadOf(yield* Effect.orDie(request.json))
    return Option.getOrUndefined(body)?.file
  })

  /** Stores the file that came with a form; undefined without one. */
  const upload = Effect.fnUntraced(function*({ viewer }: MemberVisit) {
    const file = yield* ticket
    if (media.fileOf(file) === undefined) return undefined
    yield* limits.spend([{ limit: "media", key: String(viewer) }])
    const id = yield* media.create(viewer, { file, thumbnail: undefined }, waitSecondsMax)
    const found = yield* attachments.find(viewer, id)
    if (found.state !== "failed") return uploadedFile(config, found, id)
    yield* Effect.ignore(attachments.remove(viewer, id))
    return yield* validationFailed(found.error ?? "File is invalid")
  })

  const shown = Effect.fnUntraced(function*(
    visit: MemberVisit,
    composition: Composition,
    back: string,
    more: Partial<Parameters<ComposePage["Service"]["view"]>[1]> = {},
    refused?: string
  ) {
    return yield* pages.render(visit, yield* page.view(visit, { composition, back, ...more }), refused)
  })

  /** Shows the form again after a failed send, with everything that was typed. */
  const refuse = Effect.fnUntraced(function*(
    visit: MemberVisit,
    composition: Composition,
    back: string,
    error: ClientError
  ) {
    const { words } = visit.reader
    const { status } = yield* failureResponse(error)
    // The post may have been made by then: a repeated one has the same key. After other failures the content may change.
    const key = status >= 500 ? composition.key : yield* compositions.newKey
    const storedPost = composition.draft === undefined || composition.texts.length === 1
      ? undefined
      : yield* Effect.option(drafts.find(visit.viewer, composition.draft))
    const stored = storedPost === undefined ? undefined : Option.getOrUndefined(storedPost)?.post
    const isPart = stored !== undefined && (stored.continued?.length ?? 0) + 1 < composition.texts.length
    const remaining = isPart ? { ...compositionOfPost(stored, [], composition), draft: composition.draft } : composition
    const text = words.translate(error.message)
    // A refused text outlives the tab, also without a script. After other failures the first send may have succeeded, and a
    // draft would be published a second time. The refusal of the post matters more than one of the draft.
    const saved = status >= 500 || isPart || isEmpty(remaining) || remaining.edit !== undefined
      ? undefined
      : yield* Effect.exit(posts.save(visit.viewer, remaining))
    const draft = saved?._tag === "Success" ? saved.value : remaining.draft
    return yield* shown(
      visit,
      { ...remaining, key, draft },
      back,
      { status, previewed: true },
      isPart ? `${words.say("Only the first posts of the thread were published.")} ${text}` : text
    )
  })

  const sent = Effect.fnUntraced(function*(visit: MemberVisit, composition: Composition, back: string) {
    const { say } = visit.reader.words
    const { viewer } = visit
    // A thread is stored before its first post, so that a refusal in the middle keeps the rest.
    const isThread = composition.texts.length > 1 && composition.edit === undefined
    const posted = isThread && composition.draft === undefined && composition.at === ""
      ? { ...composition, draft: yield* posts.save(viewer, composition) }
      : composition
    return yield* posts.send(viewer, posted).pipe(
      Effect.map(({ id, kind }) => {
        const own = `/@${visit.session.username}/${id}`
        switch (kind) {
          case "scheduled":
            return flash.put(seeOther("/scheduled"), { notice: say("Your post is scheduled.") })
          case "edited":
            return flash.put(seeOther(own), { notice: say("Your changes were saved.") })
          case "published": {
            const to = posted.replyTo !== undefined ? own : back === "/home" ? `/home#status-${id}` : back
            return flash.put(seeOther(to), { notice: say("Your post was published.") })
          }
        }
      }),
      Effect.catch((error) => refuse(visit, posted, back, error))
    )
  })

  const post = Effect.fnUntraced(function*(
    visit: MemberVisit,
    composition: Composition,
    back: string,
    isConfirmed: boolean
  ) {
    const concerns = isConfirmed ? [] : yield* page.concerns(visit, composition)
    return concerns.length > 0
      ? yield* shown(visit, composition, back, { concerns, status: 422, previewed: true })
      : yield* sent(visit, composition, back)
  })

  /** Saves a draft for the script; responds with the draft's id and the characters left. */
  const autosave = Effect.fnUntraced(function*({ viewer }: MemberVisit, composition: Composition) {
    const draft = isEmpty(composition) || composition.edit !== undefined
      ? composition.draft
      : yield* posts.save(viewer, composition)
    const left = composition.texts.map((text, at) =>
      statusCharactersMax - countedCharacters(text, at === 0 ? composition.spoiler : "")
    )
    return HttpServerResponse.jsonUnsafe({ draft: draft === undefined ? null : String(draft), left }, {
      headers: { "cache-control": "private, no-store" }
    })
  })

  const run = Effect.fnUntraced(function*(
    visit: MemberVisit,
    composition: Composition,
    back: string,
    act: string
  ) {
    const { files, options, texts } = composition
    const [, removed] = /^remove_file_(\d+)$/.exec(act) ?? []
    if (removed !== undefined) {
      return yield* shown(visit, { ...composition, files: files.filter(({ id }) => String(id) !== removed) }, back)
    }
    switch (act) {
      case "post":
      case "post_anyway":
        return yield* post(visit, composition, back, act === "post_anyway")
      case "save": {
        const id = yield* posts.save(visit.viewer, composition)
        const { words: { say } } = visit.reader
        return flash.put(seeOther(`/publish?draft=${id}`), { notice: say("Draft saved") })
      }
      case "add_option": {
        const more = [...options, ...Array(Math.max(1, 3 - options.length)).fill("")].slice(0, pollOptionsMax)
        return yield* shown(visit, { ...composition, options: more }, back)
      }
      case "add_post":
        return yield* shown(visit, { ...composition, texts: [...texts, ""] }, back)
      case "more":
      case "add_file":
        return yield* shown(visit, composition, back)
      default:
        return yield* shown(visit, composition, back, { previewed: true })
    }
  })

  const submitted = Effect.fnUntraced(function*(arrived: MemberVisit, form: URLSearchParams) {
    const visit = atComposer(arrived)
    const back = backOf(form)
    const standard = yield* compositions.standard(visit.viewer)
    const typed = compositionOf(form, standard)
    const act = form.get("act") ?? ""
    if (act === "autosave") return yield* autosave(visit, typed)
    return yield* Effect.gen(function*() {
      const file = typed.files.length < mediaAttachmentsMax ? yield* upload(visit) : undefined
      const composition = file === undefined ? typed : { ...typed, files: [...typed.files, file] }
      return yield* run(visit, composition, back, act).pipe(
        Effect.catch((error) => refuse(visit, composition, back, error))
      )
    }).pipe(
      Effect.catch((error) => refuse(visit, typed, back, error)),
      Effect.catchDefect((defect) =>
        Effect.andThen(
          logFailure(Cause.die(defect)),
          shown(
            visit,
            typed,
            back,
            { status: 500 },
            visit.reader.words.say("Something went wrong on this server. Your text is still here. Please try again.")
          )
        )
      )
    )
  })

  const keptFormOf = (visit: Visit, form: URLSearchParams) => Effect.succeed(keptForm(visit, form))

  const compose = pages.member(Effect.fnUntraced(function*(visit) {
    const composition = yield* compositions.asked(visit)
    const asked = ownPath(visit.query.get("return"))
    return yield* page.view(visit, { composition, back: asked ?? "/home" })
  }))

  /** Fills the composer with a form that outlived its session. Changes nothing, so that it needs no token. */
  const resume = pages.anyone(Effect.fnUntraced(function*(visit) {
    const form = yield* parameters
    const { session, viewer } = visit
    if (session === undefined || viewer === undefined) return keptForm(visit, form)
    const member = { ...atComposer({ ...visit, session, viewer }), query: form }
    const composition = compositionOf(form, yield* compositions.standard(viewer))
    return yield* page.view(member, { composition, back: backOf(form) })
  }))

  /** Stores a file for the script; responds with the form fields of the file. */
  const uploaded = pages.act(Effect.fnUntraced(function*(visit) {
    const file = yield* upload(visit)
    if (file === undefined) return yield* validationFailed("File can't be blank")
    return { to: "/publish", part: Effect.succeed(fileField(visit, file)) }
  }))

  /** Fields of a file that was still being processed. */
  const fileAgain = pages.member(Effect.fnUntraced(function*(visit) {
    const id = parseId(visit.params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    const record = yield* attachments.find(visit.viewer, id)
    if (record.state === "failed") return yield* validationFailed(record.error ?? "File is invalid")
    return pages.part(visit, fileField(visit, uploadedFile(config, record, MediaId.make(id))))
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/publish", compose),
    HttpRouter.add("POST", keptPath, forms.keep(resume)),
    HttpRouter.add("GET", composePath, Effect.succeed(redirect("/publish"))),
    HttpRouter.add("POST", composePath, pages.form(submitted, keptFormOf)),
    HttpRouter.add("POST", `${composePath}/files`, uploaded),
    HttpRouter.add("GET", `${composePath}/files/:id`, fileAgain)
  )
})

/** The composer: its page, its form and its uploads. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Forms.layer), Layer.provide(Visitors.layer))
