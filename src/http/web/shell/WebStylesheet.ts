import { accountStyle } from "../account/AccountStyle.ts"
import { actsStyle } from "../acts/ActsStyle.ts"
import { composeStyle } from "../compose/ComposeStyle.ts"
import { notificationStyle } from "../notifications/NotificationStyle.ts"
import { profileStyle } from "../profiles/ProfileStyle.ts"
import { settingsStyle } from "../settings/SettingsStyle.ts"
import { statusStyle } from "../status/StatusStyle.ts"
import { tokens } from "./DesignTokens.ts"
import { frameStyle } from "./FrameStyle.ts"
import { hashedFile } from "./HashedFile.ts"
import { iconStyle } from "./Icons.ts"

const file = hashedFile(
  "style",
  "css",
  "text/css",
  [
    tokens,
    iconStyle,
    frameStyle,
    statusStyle,
    actsStyle,
    profileStyle,
    accountStyle,
    notificationStyle,
    composeStyle,
    settingsStyle
  ].join("\n")
)

/** Path of the stylesheet of all pages of the web. */
export const webStylePath = file.path

/** Serves the stylesheet. */
export const layer = file.route
