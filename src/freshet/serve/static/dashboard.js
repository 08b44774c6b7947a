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

async function drawChart(element) {
  const response = await fetch(element.dataset.chart, { headers: { Accept: "application/json" } });
  const chart = await response.json();
  if (!chart.specification) {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.textContent = chart.note || chart.error;
    element.append(problem);
    return;
  }
  // The interpreter evaluates expressions, because the content policy forbids to compile them.
  await window.vegaEmbed(element, chart.specification, {
    mode: "vega-lite", renderer: "canvas", ast: true, actions: false, defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  element.dataset.drawn = "yes";
}

const list = document.querySelector("[data-live]");
if (list) followVisits(list);
document.addEventListener("keydown", onKey);
if (window.vegaEmbed) document.querySelectorAll("[data-chart]").forEach(drawChart);
