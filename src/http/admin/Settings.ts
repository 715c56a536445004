import { Effect, Layer } from "effect"
import { validationFailed } from "../../services/Errors.ts"
import * as EmailAddresses from "../../services/identity/EmailAddresses.ts"
import { Instance } from "../../services/instance/Instance.ts"
import type { InstanceChange } from "../../services/instance/InstanceChange.ts"
import { InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../services/instance/InstanceSettings.ts"
import { asReach, type Reach } from "../../services/instance/SettingNames.ts"
import { html } from "../html/Html.ts"
import { button, checkbox, form, select, textArea, textField } from "./parts/Controls.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Act, Visit } from "./Visit.ts"

const path = "/admin/settings"
/** Maximum characters, as in `InstanceChange`. */
const titleMax = 100
const descriptionMax = 500

const feeds = ["liveFeeds", "hashtagFeeds"] as const
const origins = ["local", "remote"] as const

const make = Effect.gen(function*() {
  const instance = yield* Instance
  const policies = yield* InstancePolicies
  const settings = yield* InstanceSettings
  const staff = yield* StaffPages

  const aboutForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const about = yield* instance.about
    return form(
      visit,
      html`${textField(visit, { name: "title", label: say("Name of the server"), value: about.title, max: titleMax })}${
        textArea(visit, {
          name: "description",
          label: say("Short description"),
          value: about.shortDescription,
          rows: 2,
          max: descriptionMax
        })
      }${
        textArea(visit, {
          name: "extended_description",
          label: say("What people read about it"),
          hint: say("Plain text or HTML; what is unsafe in it is taken out."),
          value: about.extendedDescription?.html ?? "",
          rows: 8
        })
      }${
        textField(visit, {
          name: "contact_email",
          type: "email",
          label: say("E-mail address for questions"),
          value: about.contactEmail
        })
      }${
        textField(visit, {
          name: "contact_account",
          label: say("Account for questions"),
          value: about.contactUsername ?? ""
        })
      }${
        textField(visit, {
          name: "languages",
          label: say("Languages that are spoken here"),
          hint: say("As tags with spaces between them: de en pt-BR"),
          value: about.languages.join(" ")
        })
      }${
        textField(visit, {
          name: "default_language",
          label: say("Language of pages and letters"),
          hint: say("For people whose own language we do not know."),
          value: about.defaultLanguage ?? ""
        })
      }${button("about", say("Save"), "main")}`
    )
  })

  const registrationsForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const now = yield* policies.current
    return form(
      visit,
      html`${
        select(visit, {
          name: "registrations",
          label: say("Who may sign up"),
          value: now.registrations,
          choices: [
            ["open", say("Everybody")],
            ["approval", say("Who is let in by a moderator")],
            ["closed", say("Only who has an invite")]
          ]
        })
      }${
        textArea(visit, {
          name: "registrations_message",
          label: say("What is said where nobody may sign up"),
          value: now.registrationsMessage ?? ""
        })
      }${
        checkbox(visit, {
          name: "reason_required",
          label: say("Who asks to be let in says why"),
          checked: now.reasonRequired
        })
      }${
        checkbox(visit, {
          name: "auto_close",
          label: say("Have people wait for a moderator when none was here for a week"),
          checked: now.autoClose
        })
      }${
        textField(visit, {
          name: "min_age",
          type: "number",
          label: say("Years of age that are needed"),
          hint: say("Nothing or 0 asks nobody. The date of birth is not kept."),
          value: String(now.minAge ?? "")
        })
      }${button("registrations", say("Save"), "main")}`
    )
  })

  const timelinesForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const { timelines } = yield* policies.current
    const labels = {
      liveFeeds: { local: say("Live feed, posts from here"), remote: say("Live feed, posts of other servers") },
      hashtagFeeds: {
        local: say("Hashtags and links, posts from here"),
        remote: say("Hashtags and links, posts of others")
      }
    }
    return form(
      visit,
      html`${
        feeds.flatMap((feed) =>
          origins.map((origin) =>
            select(visit, {
              name: `${feed}.${origin}`,
              label: labels[feed][origin],
              value: timelines[feed][origin],
              choices: [
                ["public", say("Everybody")],
                ["authenticated", say("Who is signed in")],
                ["disabled", say("Only roles that may")]
              ]
            })
          )
        )
      }${button("timelines", say("Save"), "main")}`
    )
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    return {
      title: say("Settings of the server"),
      body: html`<p class="row"><a href="${path}/appearance">${
        say("Pictures and color")
      }</a> <a href="${path}/budgets">${say("Room for what is kept")}</a> <a href="${path}/documents">${
        say("Privacy policy and terms of service")
      }</a></p>
${section(say("About the server"), yield* aboutForm(visit))}${
        section(say("Signing up"), yield* registrationsForm(visit))
      }${section(say("Who reads timelines"), yield* timelinesForm(visit))}`
    }
  })

  const saves = (
    change: (visit: Visit) => Effect.Effect<InstanceChange, ReturnType<typeof validationFailed>>
  ): Act => ({
    run: Effect.fnUntraced(function*(visit) {
      yield* settings.change(visit.by, yield* change(visit))
      return { notice: visit.words.say("The settings were saved.") }
    })
  })

  return staff.page({
    path: "/admin/settings",
    permission: "manageSettings",
    show,
    acts: {
      about: saves(Effect.fnUntraced(function*({ form: sent }) {
        const text = (name: string) => sent.get(name)?.trim() ?? ""
        const email = text("contact_email")
        const contactEmail = email === "" ? "" : EmailAddresses.parse(email)
        if (contactEmail === undefined) return yield* validationFailed("E-mail address is invalid")
        return {
          title: text("title"),
          description: text("description"),
          extendedDescription: text("extended_description"),
          contactEmail,
          contactAccount: text("contact_account").replace(/^@/, ""),
          languages: text("languages").split(/[\s,]+/).filter((tag) => tag !== ""),
          defaultLanguage: text("default_language")
        }
      })),
      registrations: saves(Effect.fnUntraced(function*({ form: sent }) {
        const mode = (["open", "approval", "closed"] as const).find((one) => one === sent.get("registrations"))
        if (mode === undefined) return yield* validationFailed("Registrations mode is not included in the list")
        const age = sent.get("min_age")?.trim() ?? ""
        if (!/^\d{0,6}$/.test(age)) return yield* validationFailed("Min age is invalid")
        return {
          registrations: mode,
          registrationsMessage: sent.get("registrations_message") ?? "",
          reasonRequired: sent.get("reason_required") === "yes",
          autoClose: sent.get("auto_close") === "yes",
          minAge: age === "" ? null : Number(age)
        }
      })),
      timelines: saves(Effect.fnUntraced(function*({ form: sent }) {
        const reach = (feed: string, origin: string) => {
          const found: Reach | undefined = asReach(sent.get(`${feed}.${origin}`))
          return found === undefined
            ? Effect.fail(validationFailed("Timelines access is not included in the list"))
            : Effect.succeed(found)
        }
        const feedsOf = (feed: typeof feeds[number]) =>
          Effect.all({ local: reach(feed, "local"), remote: reach(feed, "remote") })
        return {
          timelinesAccess: { liveFeeds: yield* feedsOf("liveFeeds"), hashtagFeeds: yield* feedsOf("hashtagFeeds") }
        }
      }))
    }
  })
})

/** Server settings: name and texts, registrations, and access to timelines. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(InstanceSettings.layer))
