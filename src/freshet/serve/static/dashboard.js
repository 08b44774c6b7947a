// Live updates, the keyboard, and charts. Everything from the web is set as text.
"use strict";

function showVisit(list, visit) {
  const item = document.createElement("li");
  item.className = "fresh";
  const link = document.createElement("a");
  link.className = "page";
  link.href = "/pages/" + Number(visit.page);
  const name = document.createElement("bdi");
  name.textContent = visit.url;
  link.append(name);
  const meta = document.createElement("span");
  meta.className = "meta";
  const links = visit.new_links ? " · " + visit.new_links + " new links" : "";
  meta.textContent = "just now · " + (visit.words ?? 0) + " words" + links;
  item.append(link, meta);
  list.prepend(item);
  while (list.children.length > 12) list.lastElementChild.remove();
}

function followVisits(list) {
  const counter = document.querySelector("[data-live-count]");
  const events = new EventSource("/api/v1/events?after=" + Number(list.dataset.live));
  let count = 0;
  events.addEventListener("visit", (event) => {
    const visit = JSON.parse(event.data);
    count += 1;
    counter.textContent = count.toLocaleString("en");
    counter.parentElement.hidden = false;
    if (visit.changed) showVisit(list, visit);
  });
  addEventListener("pagehide", () => events.close());
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-rows] tbody tr")];
  if (!rows.length) return;
  const index = rows.indexOf(document.activeElement.closest("tr"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.matches("input, select, textarea, button, summary")) return;
  if (event.key === "/") {
    const field = document.querySelector("[data-search]");
    if (field) { event.preventDefault(); field.focus(); }
  } else if (event.key === "j" || event.key === "k") {
    moveRow(event.key === "j" ? 1 : -1);
  } else if (event.key === "Enter" && target.matches("tr")) {
    const link = target.querySelector("a");
    if (link) link.click();
  }
}

function themed(specification) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const ink = colour("--ink"), quiet = colour("--quiet"), line = colour("--line");
  const axis = { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line };
  const config = specification.config || {};
  const merged = (name, values) => ({ ...(config[name] || {}), ...values });
  return {
    ...specification,
    config: {
      ...config, background: "transparent",
      axis: merged("axis", axis), legend: merged("legend", { labelColor: quiet, titleColor: quiet }),
      title: merged("title", { color: ink, subtitleColor: quiet }),
      view: merged("view", { stroke: null, fill: null }),
    },
  };
}

async function drawChart(element) {
  const response = await fetch(element.dataset.chart, { headers: { Accept: "application/json" } });
  const document_ = await response.json();
  if (!response.ok) {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.textContent = document_.error;
    element.append(problem);
    return;
  }
  // The interpreter evaluates expressions, because the content policy forbids to compile them.
  await window.vegaEmbed(element, themed(document_.specification), {
    mode: "vega-lite", renderer: "canvas", ast: true, actions: false, defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  element.dataset.drawn = "yes";
}

const list = document.querySelector("[data-live]");
if (list) followVisits(list);
document.addEventListener("keydown", onKey);
if (window.vegaEmbed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawAll = () => document.querySelectorAll("[data-chart]").forEach((element) => {
    element.replaceChildren();
    drawChart(element);
  });
  drawAll();
  dark.addEventListener("change", drawAll);
}
