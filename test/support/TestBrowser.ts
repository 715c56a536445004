import { Effect } from "effect"
import { tokenField } from "../../src/http/html/FormTokens.ts"
import { configuration } from "./Reads.ts"
import { type Reply, send } from "./Requests.ts"
import { password } from "./SignedIn.ts"

type Send<R> = (path: string, init?: RequestInit) => Effect.Effect<Reply, never, R>

/** A browser without scripts that keeps cookies and submits page forms with their hidden fields. */
export const make = (headers: Record<string, string> = { origin: configuration.publicUrl }) => makeWith(send, headers)

/** Makes a browser for another server under test. */
export const makeWith = <R>(send: Send<R>, headers: Record<string, string>, mailDomain = "mail.example") => {
  const cookies = new Map<string, string>()
  const tokens = new Set<string>()

  const request = Effect.fnUntraced(function*(path: string, init: RequestInit = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = yield* send(path, { ...init, headers: { ...(cookie !== "" && { cookie }), ...init.headers } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === "") cookies.delete(name)
      else cookies.set(name, value)
    }
    // BREACH: a page that may be compressed must have a token that no other response has.
    const [, token] = new RegExp(`name="${tokenField}" value="([^"]*)"`).exec(response.text) ?? []
    if (token !== undefined && tokens.has(token)) {
      return yield* Effect.die(new Error(`${path} has the token of an earlier response`))
    }
    if (token !== undefined) tokens.add(token)
    return response
  })

  const get = (path: string) => request(path)

  /** Submits the `index`-th form of a page with the given fields. */
  const submit = (page: Reply, written: Record<string, string> = {}, index = 0) => {
    const form = formsOf(page)[index]
    if (form === undefined) return Effect.die(new Error(`There is no form ${index} in ${page.text}`))
    const body = new URLSearchParams({ ...form.fields, ...written })
    return request(form.action, { method: "POST", body, headers })
  }

  /** Presses an action's button in the first form that has it. */
  const press = (page: Reply, act: string, written: Record<string, string> = {}) => {
    const index = formsOf(page).findIndex(({ acts }) => acts.includes(act))
    return submit(page, { ...written, act }, index)
  }

  const signIn = Effect.fnUntraced(function*(username: string, page?: Reply, secret = password) {
    return yield* submit(page ?? (yield* get("/auth/sign_in")), {
      email: `${username}@${mailDomain}`,
      password: secret
    })
  })

  return { cookies, get, request, submit, press, signIn }
}

const unescape = (text: string) =>
  text.replaceAll("&quot;", "\"").replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll(
    "&amp;",
    "&"
  )

export type Page = Reply

const isSignOut = (page: string, action: string) =>
  page.includes(`<header class="top">`) && action.startsWith("/auth/sign_out")

/**
 * Parses the forms of a page: targets, names of text fields, actions and hidden fields. The sign-out in the web
 * client's navigation comes last.
 */
export const formsOf = ({ text }: Reply) =>
  [...text.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map((
    [, action = "", inside = ""]
  ) => ({
    action: unescape(action),
    written: [...inside.matchAll(/<(?:input|textarea) ([^>]*)>/g)].flatMap(([, attributes = ""]) =>
      /type="(?:hidden|checkbox|radio|file|submit)"/.test(attributes)
        ? []
        : /name="([^"]+)"/.exec(attributes)?.[1] ?? []
    ),
    acts: [...inside.matchAll(/<button [^>]*name="act" value="([^"]*)"/g)].map(([, act = ""]) => act),
    fields: Object.fromEntries(
      [...inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map((
        [, name = "", value = ""]
      ) => [name, unescape(value)])
    )
  })).toSorted((a, b) => Number(isSignOut(text, a.action)) - Number(isSignOut(text, b.action)))

/** Returns the target of a redirect. */
export const locationOf = ({ headers }: Reply): URL => new URL(headers.get("location") ?? "", "https://none.example")
