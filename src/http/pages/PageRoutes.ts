import { Layer } from "effect"
import { Forms } from "../html/Forms.ts"
import { Visitors } from "../html/Visitors.ts"
import * as AnnualReports from "./AnnualReportPage.ts"
import * as CollectionPages from "./CollectionPages.ts"
import * as DocumentPages from "./DocumentPages.ts"
import * as Embeds from "./Embeds.ts"
import * as FrontPage from "./FrontPage.ts"
import * as HealthPage from "./HealthPage.ts"
import * as InstanceIcons from "./InstanceIcons.ts"
import * as Manifest from "./Manifest.ts"
import * as ManualPages from "./ManualPages.ts"
import * as NotFoundPage from "./NotFoundPage.ts"
import * as PictureFiles from "./PictureFiles.ts"
import { Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"
import * as PublicStyle from "./PublicStyle.ts"
import * as ThemeStylesheet from "./ThemeStylesheet.ts"

/** Provides what public pages share, those of other folders included. */
export const provideShared = <E, R>(pages: Layer.Layer<never, E, R>) =>
  pages.pipe(Layer.provide([Posts.layer, Forms.layer]), Layer.provide([PublicPages.layer, Visitors.layer]))

/** Public pages, and the files that they and the instance's document refer to. */
export const layer = provideShared(Layer.mergeAll(
  AnnualReports.layer,
  CollectionPages.layer,
  DocumentPages.layer,
  Embeds.layer,
  FrontPage.layer,
  HealthPage.layer,
  Manifest.layer,
  ManualPages.layer,
  PictureFiles.layer,
  PublicStyle.layer,
  InstanceIcons.layer,
  ThemeStylesheet.layer,
  NotFoundPage.layer
))
