import type { Marker } from "../../services/feeds/Markers.ts"
import { json } from "../wire/Keys.ts"
import type * as Wire from "../wire/Marker.ts"
import { markerValues } from "./Values.ts"

/** Renders reading positions, by timeline. */
export const markersJson = (markers: ReadonlyArray<Marker>) =>
  json<Wire.Markers>(Object.fromEntries(markers.map((marker) => [marker.timeline, markerValues(marker)])))
