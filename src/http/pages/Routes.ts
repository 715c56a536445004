import { Layer } from "effect"
import { Forms } from "../html/Forms.ts"
import { Visitors } from "../html/Visitors.ts"
import * as AnnualReports from "./AnnualReportPage.ts"
import * as CollectionPages from "./CollectionPages.ts"
import * as Embeds from "./Embeds.ts"
import * as FrontPage from "./FrontPage.ts"
import * as InstanceIcons from "./InstanceIcons.ts"
import * as Manifest from "./Manifest.ts"
import * as NotFoundPage from "./NotFoundPage.ts"
import * as PictureFiles from "./PictureFiles.ts"
import { Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"
import * as PublicStyle from "./PublicStyle.ts"
import * as Subscribing from "./Subscribing.ts"
import * as ThemeStylesheet from "./ThemeStylesheet.ts"

/** Public pages, and the files that they and the instance's document refer to. */
export const layer = Layer.mergeAll(
  AnnualReports.layer,
  CollectionPages.layer,
  Embeds.layer,
  FrontPage.layer,
  Manifest.layer,
  PictureFiles.layer,
  PublicStyle.layer,
  InstanceIcons.layer,
  Subscribing.layer,
  ThemeStylesheet.layer,
  NotFoundPage.layer
).pipe(Layer.provide([Posts.layer, Forms.layer]), Layer.provide([PublicPages.layer, Visitors.layer]))
