import { useId, useState } from 'preact/hooks'
import { Button } from './components/button.tsx'
import { Badge } from './components/facts.tsx'
import { Icon, Logo } from './components/icon.tsx'
import { routeHash } from './route.ts'
import { useSession } from './session.tsx'
import { useShortcut } from './shortcuts.tsx'
import { applyTheme, loadTheme, type Theme } from './theme.ts'
import { type View, views } from './views.ts'

const operatorViews = views.filter(({ needs }) => needs === 'adminKey')
const organizationViews = views.filter(({ needs }) => needs !== 'adminKey')

/** The navigation: at the side, or on a phone behind a button. Views of the operator need an admin key to be shown. */
export function Navigation(props: {
  readonly current: string | undefined
  readonly onShortcuts: () => void
  readonly onKeys: () => void
}) {
  const { current } = props
  const { keys, may } = useSession()
  const [open, setOpen] = useState(false)
  return (
    <header class={open ? 'sidebar open' : 'sidebar'}>
      <div class="brand">
        <a href={routeHash('')} aria-label="Weir, start">
          <Logo /> Weir
        </a>
        <Button label="Menu" icon={open ? 'close' : 'menu'} expanded={open} onClick={() => setOpen(!open)} />
      </div>
      <nav aria-label="Views" onClick={() => setOpen(false)}>
        <Section title="Organization" views={organizationViews} current={current} />
        {keys.adminKey !== undefined && (
          <Section title="Operator" views={operatorViews} current={current} readOnly={!may('write')} />
        )}
      </nav>
      <div class="tools">
        <ThemeButton />
        <Button label="Keyboard shortcuts" icon="help" onClick={props.onShortcuts} />
        <Button label="Keys" icon="keys" onClick={props.onKeys} />
      </div>
    </header>
  )
}

function Section(props: {
  readonly title: string
  readonly views: readonly View[]
  readonly current: string | undefined
  readonly readOnly?: boolean
}) {
  const id = useId()
  return (
    <div>
      <h2 id={id}>
        {props.title} {props.readOnly && <Badge>read only</Badge>}
      </h2>
      <ul aria-labelledby={id}>
        {props.views.map((view) => (
          <ViewLink key={view.id} view={view} current={view.id === props.current} />
        ))}
      </ul>
    </div>
  )
}

function ViewLink({ view, current }: { readonly view: View; readonly current: boolean }) {
  const href = routeHash(view.id)
  useShortcut(`g ${view.shortcut}`, `Go to ${view.title}`, () => {
    location.hash = href
  })
  return (
    <li>
      <a href={href} aria-current={current ? 'page' : undefined}>
        <Icon name={view.id} />
        {view.title}
      </a>
    </li>
  )
}

const nextTheme = { auto: 'dark', dark: 'light', light: 'auto' } as const
const themeIcons = { auto: 'auto', dark: 'moon', light: 'sun' } as const

/** Switches between the colors of the system, dark and light. */
function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(loadTheme)
  const change = () => {
    applyTheme(nextTheme[theme])
    setTheme(nextTheme[theme])
  }
  return <Button label={`Theme: ${theme}`} icon={themeIcons[theme]} onClick={change} />
}
