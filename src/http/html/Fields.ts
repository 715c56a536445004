import { passwordBytesMax, passwordCharactersMin } from "../../services/identity/Credentials.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { type Html, html } from "./Html.ts"
import { signInTo } from "./PagePaths.ts"
import type { Visitor } from "./Visitors.ts"

/** Renders the field for a new password, with its rule; `name` is also the prefix of the hint's id. */
export const newPasswordField = ({ say }: Messages, label: string, name = "password"): Html =>
  html`<label>${label}
<input type="password" name="${name}" autocomplete="new-password" required aria-describedby="${name}-rule">
<span class="hint" id="${name}-rule">${
    say(
      "At least {characters, plural, one {# character} other {# characters}}, at most {bytes, plural, one {# byte} other {# bytes}}.",
      { characters: passwordCharactersMin, bytes: passwordBytesMax }
    )
  }</span></label>`

/** Renders the field for the password that a user enters again; users without one sign in again, back to `path`. */
export const ownPasswordField = ({ session, way, words: { say } }: Visitor, path: string): Html =>
  session?.hasPassword === false
    ? html`<p class="hint">${
      say("You have no password. To confirm, sign in again if your last sign-in was more than ten minutes ago.")
    } <a href="${way(`${signInTo(path)}&force_login=1`)}">${say("Sign in")}</a></p>`
    : html`<label>${say("Your password")}
<input type="password" name="password" autocomplete="current-password" required></label>`

/** Renders a choice of one of several values. */
export const selectField = (
  name: string,
  label: string,
  chosen: string,
  options: ReadonlyArray<readonly [value: string, text: string]>
): Html =>
  html`<label>${label}
<select name="${name}">${
    options.map(([value, text]) =>
      value === chosen
        ? html`<option value="${value}" selected>${text}</option>`
        : html`<option value="${value}">${text}</option>`
    )
  }</select></label>`
