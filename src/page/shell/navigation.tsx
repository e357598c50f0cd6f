import { useId, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { useShortcut } from '../keyboard/shortcuts.tsx'
import { routeHash } from '../routing/route.ts'
import type { Keys } from '../session/keys.ts'
import { useSession } from '../session/session.tsx'
import type { View } from '../views/view.ts'
import { isAllowed, views } from '../views/views.ts'
import { Logo } from './logo.tsx'
import { ThemeButton } from './theme-button.tsx'

const sections = [
  ['organization', 'Organization'],
  ['operator', 'Operator'],
] as const

/** The navigation: at the side, or on a phone behind a button. */
export function Navigation(props: {
  readonly current: string | undefined
  readonly onShortcuts: () => void
  readonly onKeys: () => void
}) {
  const { keys } = useSession()
  const [open, setOpen] = useState(false)
  return (
    <header class={open ? 'sidebar open' : 'sidebar'}>
      <div class="brand">
        <a href={routeHash('')} aria-label="Weir, start">
          <Logo /> Weir
        </a>
        <Button
          label="Menu"
          icon={open ? 'close' : 'menu'}
          iconOnly
          expanded={open}
          onClick={() => setOpen(!open)}
        />
      </div>
      <nav aria-label="Views" onClick={() => setOpen(false)}>
        {sections.map(([section, title]) => (
          <Section key={section} title={title} views={shown(section, keys)} current={props.current} />
        ))}
      </nav>
      <div class="tools">
        <ThemeButton />
        <Button label="Keyboard shortcuts" icon="help" iconOnly onClick={props.onShortcuts} />
        <Button label="Keys" icon="keys" onClick={props.onKeys} />
      </div>
    </header>
  )
}

function Section(props: {
  readonly title: string
  readonly views: readonly View[]
  readonly current: string | undefined
}) {
  const id = useId()
  if (props.views.length === 0) return null
  return (
    <div>
      <h2 id={id}>{props.title}</h2>
      <ul aria-labelledby={id}>
        {props.views.map((view) => (
          <ViewLink key={view.id} view={view} current={view.id === props.current} />
        ))}
      </ul>
    </div>
  )
}

function ViewLink({ view, current }: { readonly view: View; readonly current: boolean }) {
  const { keys } = useSession()
  useShortcut(`g ${view.shortcut}`, `Go to ${view.title}`, () => {
    location.hash = routeHash(view.id)
  })
  return (
    <li>
      <a
        href={routeHash(view.id)}
        aria-current={current ? 'page' : undefined}
        class={isAllowed(view, keys) ? '' : 'locked'}
      >
        <Icon name={view.icon} />
        {view.title}
      </a>
    </li>
  )
}

/** Views of the operator are not shown without an admin key. */
function shown(section: View['section'], { adminKey }: Keys): readonly View[] {
  return section === 'operator' && adminKey === undefined
    ? []
    : views.filter((view) => view.section === section)
}
