import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useMemo, useRef } from 'preact/hooks'

/** A shortcut: one key such as `/`, or two in a row such as `g p`. */
type Shortcut = { readonly keys: string; readonly label: string; readonly run: () => void }

type Registry = { readonly list: Set<Shortcut> }

const RegistryContext = createContext<Registry>({ list: new Set() })

/** Two keys belong together within this time. */
const chordMs = 1000

/** Listens to the keyboard. Nothing happens while a person types in a field, or in a dialog. */
export function ShortcutProvider({ children }: { readonly children: ComponentChildren }) {
  const registry = useMemo<Registry>(() => ({ list: new Set() }), [])
  const pending = useRef({ key: '', at: 0 })
  useLayoutEffect(() => {
    const handle = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const { key, at } = pending.current
      const chord = event.timeStamp - at < chordMs ? `${key} ${event.key}` : event.key
      const found = findShortcut(registry, chord) ?? findShortcut(registry, event.key)
      pending.current = found ? { key: '', at: 0 } : { key: event.key, at: event.timeStamp }
      if (found === undefined) return
      event.preventDefault()
      found.run()
    }
    document.addEventListener('keydown', handle)
    return () => document.removeEventListener('keydown', handle)
  }, [])
  return <RegistryContext.Provider value={registry}>{children}</RegistryContext.Provider>
}

/** Adds a shortcut while the component is shown and it is enabled. */
export function useShortcut(keys: string, label: string, run: () => void, enabled = true): void {
  const { list } = useContext(RegistryContext)
  const current = useRef(run)
  current.current = run
  // Before what it belongs to is painted: a person who sees it can press the key.
  useLayoutEffect(() => {
    if (!enabled) return undefined
    const shortcut: Shortcut = { keys, label, run: () => current.current() }
    list.add(shortcut)
    return () => void list.delete(shortcut)
  }, [keys, label, enabled])
}

/** The shortcuts of what is shown now. */
export function useShortcutList(): readonly Shortcut[] {
  return [...useContext(RegistryContext).list]
}

function findShortcut({ list }: Registry, keys: string): Shortcut | undefined {
  return [...list].find((shortcut) => shortcut.keys === keys)
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null
  )
}
