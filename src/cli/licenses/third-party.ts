import data from './third-party.json'

/** A third-party component of the executable, with its licence. */
export type Component = {
  readonly name: string
  /** Null where the authors of the runtime do not name one. */
  readonly version: string | null
  /** An npm package of the bundle, a part of the runtime, or data. */
  readonly kind: 'package' | 'runtime' | 'data'
  /** An SPDX expression, or the words of the authors of the runtime where they do not use one. */
  readonly license: string
  /** The home page or the repository. */
  readonly url: string | null
  /** The keys of the licence texts; empty where only the address is known. */
  readonly texts: readonly string[]
}

/** The third-party components of the executable; components with the same licence text share it. */
export type ThirdParty = {
  readonly components: readonly Component[]
  readonly texts: Readonly<Record<string, string>>
}

// The script that writes the file derives it from the bundle, and a test compares the two.
const thirdPartyData: unknown = data
/** The third-party components of this release. */
export const thirdParty = thirdPartyData as ThirdParty

/** Returns the whole licence text of a component, or null if only its address is known. */
export function licenseText({ texts }: Component, all: ThirdParty = thirdParty): string | null {
  const found = texts.flatMap((key) => all.texts[key] ?? [])
  return found.length === 0 ? null : found.join('\n\n')
}
